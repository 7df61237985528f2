"""The command, as a process of its own, and records that it made."""

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
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it said on stderr."""
        return self.err.splitlines()

    @property
    def json(self) -> Any:
        """What it printed, as strict JSON."""

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
        """Run it to its end; by default it must succeed, and in any case without a traceback."""
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
        """Start it."""
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
        """Kill whatever is left."""
        for child in self.started:
            with child:
                child.kill()

    def rows(self, query: str, db: str = "record.duckdb") -> list[tuple[Any, ...]]:
        """The answer to a query."""
        with Record.read(self.folder / db) as record:
            return record.sql(query)[1]

    def digest(self, db: str = "record.duckdb", run: int = 1) -> str:
        """The digest of a run."""
        with Record.read(self.folder / db) as record:
            return record.digest(run)


@pytest.fixture
def tournament(tmp_path: Path) -> Iterator[Tournament]:
    """The command, run in an empty folder; no process outlives its test."""
    command = Tournament(tmp_path)
    yield command
    command.stop()


Folder = Callable[..., Path]


def bots_in(folder: Path, *names: str, **sources: str) -> Path:
    """A folder with packaged bots, and with others of these sources."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(packaged_bots() / f"{name}.py", folder)
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return folder


@pytest.fixture
def bots(tmp_path: Path) -> Folder:
    """Makes a folder of bots."""
    return lambda *names, folder="bots", **sources: bots_in(tmp_path / folder, *names, **sources)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tournament]:
    """A folder with bots and a record of two runs, with faults, and with noise in the second; only to be read."""
    command = Tournament(tmp_path_factory.mktemp("made"))
    bots_in(command.folder / "bots", "tit_for_tat", "always_defect", "random", late=LATE)
    run = ("run", "--pop", "bots", "--db", "record.duckdb", "--rounds", 10)
    command(*run, "--reps", 2)
    command(*run, "--reps", 3, "--noise", 0.1, "--seed", 7)
    yield command
    command.stop()
