"""Fixtures that run the command in a process of its own, and that make records with it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tournament.library import packaged_bots
from tournament.store import Record

COMMAND = (sys.executable, "-m", "tournament")
LATE = """
def act(view):
    print("so far", len(view.mine))
    if len(view.mine) == 5:
        raise ValueError("I give up")
    return "C"
"""


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """The lines that the command printed on stderr."""
        return self.err.splitlines()

    @property
    def json(self) -> Any:
        """The JSON that the command printed; NaN and Infinity are refused."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


class Tournament:
    """Runs the command in a folder."""

    command = COMMAND

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[str]] = []

    def __call__(
        self, *words: object, code: int | None = 0, stdin: str | None = None, **more: Any
    ) -> Done:
        """Run the command to its end. It must exit with `code`, unless that is None, and never print a traceback."""
        child = self.start(*words, stdin=subprocess.PIPE, **more)
        out, err = child.communicate(stdin, timeout=120)
        assert "Traceback" not in err, err
        assert code is None or child.returncode == code, (child.returncode, out, err)
        return Done(child.returncode, out, err)

    def start(
        self,
        *words: object,
        command: tuple[str, ...] = COMMAND,
        environment: dict[str, str] | None = None,
        **more: Any,
    ) -> "subprocess.Popen[str]":
        """Start the command."""
        options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        child = subprocess.Popen(
            [*command, *map(str, words)],
            cwd=self.folder,
            env={**os.environ, **(environment or {})},
            text=True,
            **(options | more),
        )
        self.started.append(child)
        return child

    def stop(self) -> None:
        """Kill the processes that are still running."""
        for child in self.started:
            with child:
                child.kill()

    def rows(self, query: str, db: str = "record.duckdb") -> list[tuple[Any, ...]]:
        """Return the rows that answer a query."""
        with Record.read(self.folder / db) as record:
            return record.sql(query)[1]

    def digest(self, db: str = "record.duckdb", run: int = 1) -> str:
        """Return the digest of a run."""
        with Record.read(self.folder / db) as record:
            return record.digest(run)


@pytest.fixture
def tournament(tmp_path: Path) -> Iterator[Tournament]:
    """The command, to be run in an empty folder. Processes that still run are killed at the end of the test."""
    command = Tournament(tmp_path)
    yield command
    command.stop()


Folder = Callable[..., Path]


def bots_in(folder: Path, *names: str, **sources: str) -> Path:
    """Make a folder with the named bots of the package, and with bots that have the given sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(packaged_bots() / f"{name}.py", folder)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return folder


@pytest.fixture
def bots(tmp_path: Path) -> Folder:
    """A function that makes a folder of bots."""
    return lambda *names, folder="bots", **sources: bots_in(tmp_path / folder, *names, **sources)


@pytest.fixture(scope="session")
def recorded_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tournament]:
    """A folder with bots and a record of two runs with faults; the second has noise. Tests must not change it."""
    command = Tournament(tmp_path_factory.mktemp("made"))
    bots_in(command.folder / "bots", "tit_for_tat", "always_defect", "random", late=LATE)
    run = ("run", "--pop", "bots", "--db", "record.duckdb", "--rounds", 10)
    command(*run, "--reps", 2)
    command(*run, "--reps", 3, "--noise", 0.1, "--seed", 7)
    yield command
    command.stop()
