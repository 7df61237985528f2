"""Fixtures: records with runs in them, and processes that use records."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tournament.store
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.store import Record

CONFIG = {"game": "prisoners_dilemma", "repetition": {"rounds": 4, "discount": 1.0}}


@dataclass
class Session:
    """A session of bots named by their sources."""

    record: Record
    run: int
    number: int
    bots: dict[str, Program]
    rounds: int = 4

    def outcome(
        self,
        lineup: str,
        payoffs: Sequence[float | None],
        moves: Sequence[str] = (),
        faults: Sequence[Fault] = (),
        repetition: int = 0,
        **more: Any,
    ) -> Outcome:
        """Return the outcome of a match among the bots that `lineup` names, separated by spaces."""
        digests = tuple(self.bots[name].digest for name in lineup.split())
        return Outcome(
            fixture=Fixture(digests, repetition),
            rounds=self.rounds,
            moves=tuple(moves) or ("",) * len(digests),
            payoffs=tuple(payoffs),
            faults=tuple(faults),
            **more,
        )

    def play(self, *arguments: Any, **more: Any) -> None:
        """Record an outcome."""
        self.record.append(self.number, [self.outcome(*arguments, **more)])

    def rows(self, view: str, columns: str = "*", where: str = "true") -> list[tuple[Any, ...]]:
        """Return the rows of a view that belong to this run."""
        query = f"select {columns} from {view} where run = {self.run} and {where}"
        return self.record.sql(query)[1]


BeginSession = Callable[..., Session]


def start_session(
    record: Record,
    names: str,
    *,
    key: str = "run",
    config: dict[str, Any] | None = None,
    seed: int = 7,
    moves: Sequence[Sequence[str | int]] = (("C", "D"), ("C", "D")),
    rounds: int = 4,
) -> Session:
    """Begin a session of bots: for each name, a program whose source is a comment with this name."""
    bots = {name: Program(name, f"# {name}\n", f"bots/{name}.py") for name in names.split()}
    run = record.begin_run(key, config or CONFIG, seed, moves)
    number = record.begin_session(run, {"engine": "1"}, [(bots[name], name) for name in bots])
    return Session(record, run, number, bots, rounds)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results" / "record.duckdb"


@pytest.fixture
def record(path: Path) -> Iterator[Record]:
    with Record.open(path) as record:
        yield record


@pytest.fixture
def session_of(record: Record) -> BeginSession:
    """A function that begins a session in the record of the test."""
    return lambda names, **more: start_session(record, names, **more)


@pytest.fixture(scope="module")
def long_record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    """One record for all examples of a module. Each example begins a run of its own."""
    with Record.open(tmp_path_factory.mktemp("long") / "record.duckdb") as record:
        yield record


@pytest.fixture
def session_in() -> BeginSession:
    """A function that begins a session in a given record."""
    return start_session


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """A function that starts a Python process with a script. The processes are killed at the end of the test."""
    checkout = Path(tournament.store.__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    started: list[subprocess.Popen[str]] = []

    def start(script: str, *arguments: object, prefix: Sequence[str] = ()) -> Any:
        command = [*prefix, sys.executable, "-c", script, *map(str, arguments)]
        child = subprocess.Popen(
            command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        started.append(child)
        return child

    yield start
    for child in started:
        with child:
            child.kill()
