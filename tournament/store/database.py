"""A record: opening it, writing to it, and asking it."""

import itertools
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, Self

import duckdb
from duckdb import DuckDBPyConnection

from tournament.errors import UsageError
from tournament.game import Move
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.store import growth, lock, migrations, queries, rows
from tournament.store.failures import explained

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    # Most tables fit in one block or two: with blocks of the usual size a small record is 4 MB.
    "default_block_size": "65536",
    "preserve_insertion_order": False,
    "autoinstall_known_extensions": False,
    # A query reaches neither files, nor the network, nor variables of this program.
    "enable_external_access": False,
    "python_enable_replacements": False,
}

Ending = Literal["done", "interrupted", "failed"]
"""How a sitting can end."""


class Record:
    """An open record: `open` is for the one process that writes, `read` for any that only look.

    It may be shared among threads. Each method is one transaction: once it has returned, what it
    wrote is kept.
    """

    def __init__(self, path: Path, connection: DuckDBPyConnection, closing: ExitStack) -> None:
        self.path = path
        self._connection = connection
        self._closing = closing
        self._writing = threading.Lock()

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """The record at `path`, made if there is none, for this process alone to write.

        Raises `RecordBusy` if another process has it open, `RecordRefused` if the file cannot be a record, and
        `RecordError` if it cannot be read or written.
        """
        path = _resolved(path)
        with explained(path), ExitStack() as closing:
            path.parent.mkdir(parents=True, exist_ok=True)
            closing.callback(os.close, lock.take(path))
            _remove_empty(path)
            connection = closing.enter_context(_connect(path, read_only=False))
            migrations.migrate(connection, path)
            queries.end_abandoned(connection)
            return cls(path, connection, closing.pop_all())

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The record at `path`, to be looked at only.

        Raises `UsageError` if there is none, `RecordBusy` while a process writes it, `RecordRefused` if the file is
        no record, and `RecordError` if it cannot be read.
        """
        path = _resolved(path)
        if not path.is_file():
            raise UsageError(
                f"no record at {path}: make one with `tournament run --pop bots/ --db {path}`"
            )
        with explained(path), ExitStack() as closing:
            connection = closing.enter_context(_connect(path, read_only=True))
            migrations.check(connection, path)
            return cls(path, connection, closing.pop_all())

    def close(self) -> None:
        """Close the file and give up the lock."""
        with explained(self.path):
            self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def begin_run(
        self,
        key: str,
        config: Mapping[str, Any],
        seed: int,
        moves: Sequence[Sequence[Move]],
    ) -> int:
        """The number of the run with that key, entered if it is new.

        `config` is JSON-ready; of it, views know the "game" and the "discount" of the "repetition".
        `moves[seat]` are the legal moves.
        """
        with self._transaction() as cursor:
            known = cursor.execute("select run from runs where key = ?", [key]).fetchone()
            if known:
                return int(known[0])
            run = queries.last(cursor, "run", "runs") + 1
            discount = config.get("repetition", {}).get("discount", 1.0)
            words = [[str(move) for move in legal] for legal in moves]
            cursor.execute(
                """
                insert into runs (run, key, game, seed, discount, moves, config)
                values (?, ?, ?, ?, ?, ?, ?)
                """,
                [run, key, config.get("game"), str(seed), discount, words, _json(config)],
            )
            return run

    def begin_sitting(
        self,
        run: int,
        manifest: Mapping[str, Any],
        entrants: Iterable[tuple[Program, str]],
        left_out: Iterable[tuple[str, str]] = (),
    ) -> int:
        """The number of a new sitting of a run, with the programs in it under their bots' names.

        `left_out` are names of files that do not play, and why. `manifest` is JSON-ready; of it,
        views know engine, python, wasmtime, image, layers, workers, strict and command.
        """
        with self._transaction() as cursor:
            sitting = queries.last(cursor, "sitting", "sittings") + 1
            cursor.execute(
                """
                insert into sittings (sitting, run, started_at, status, matches, manifest)
                values (?, ?, now() at time zone 'utc', 'running', 0, ?)
                """,
                [sitting, run, _json(manifest)],
            )
            rows.insert_entrants(cursor, sitting, list(entrants), list(left_out))
            return sitting

    def admit(self, sitting: int, program: Program) -> None:
        """Enter a program that joins a sitting, under the name by which the record knows it, or else its own."""
        with self._transaction() as cursor:
            known = queries.programs(cursor).get(program.digest, program)
            rows.insert_entrants(cursor, sitting, [(program, known.name)], [])

    def append(self, sitting: int, outcomes: Sequence[Outcome]) -> range:
        """Keep outcomes, all or none, and return their match numbers.

        Their programs must have been entered in a sitting. That no fixture of a run is kept twice
        is up to the caller: see `played`.
        """
        with self._transaction() as cursor:
            first = queries.last(cursor, "match", "matches") + 1
            matches = range(first, first + len(outcomes))
            numbered = dict(zip(matches, outcomes, strict=True))
            rows.insert_matches(cursor, sitting, numbered)
            return matches

    def replace(self, sitting: int, outcomes: Sequence[Outcome]) -> None:
        """Put outcomes in the place, and under the match numbers, of those of the same fixtures."""
        with self._transaction() as cursor:
            known = queries.matches(cursor, queries.run_of(cursor, sitting))
            new = itertools.count(queries.last(cursor, "match", "matches") + 1)
            numbered = {known.get(each.fixture) or next(new): each for each in outcomes}
            rows.remove_matches(cursor, list(numbered))
            rows.insert_matches(cursor, sitting, numbered)

    def begin_chain(
        self, run: int, name: str, oracles: Sequence[str], plan: Mapping[str, Any]
    ) -> int:
        """The number of a run's chain of that name and plan, entered if it is new."""
        with self._transaction() as cursor:
            return growth.begin_chain(cursor, run, name, oracles, plan)

    def keep_step(self, chain: int, step: growth.GrownStep) -> None:
        """Keep a step of a chain; one that is kept already stays as it is."""
        with self._transaction() as cursor:
            growth.keep_step(cursor, chain, step)

    def chains(self) -> list[growth.GrownChain]:
        """All chains, in the order in which they were begun."""
        with self._cursor() as cursor:
            return growth.chains(cursor)

    def steps(self, chain: int) -> list[growth.GrownStep]:
        """The steps of a chain, in order."""
        with self._cursor() as cursor:
            return growth.steps(cursor, chain)

    def keep_calls(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Keep calls to models with their answers: see `growth.CALL`."""
        with self._transaction() as cursor:
            growth.keep_calls(cursor, calls)

    def call_keys(self) -> set[str]:
        """The keys of all calls to models."""
        with self._cursor() as cursor:
            return growth.call_keys(cursor)

    def find_call(self, key: str) -> str | None:
        """The line of the call with that key."""
        with self._cursor() as cursor:
            return growth.find_call(cursor, key)

    def call_lines(self) -> list[str]:
        """The lines of all calls, in the order in which they were kept."""
        with self._cursor() as cursor:
            return growth.call_lines(cursor)

    def programs_called(self, named: str, run: int | None = None) -> list[Program]:
        """The programs of that name, number or digest, the latest first; of one run, or of any."""
        with self._cursor() as cursor:
            return growth.programs_called(cursor, named, run)

    def steps_called(self, named: str) -> list[tuple[int, int, str | None]]:
        """Chain, number and the program's digest of steps of that name, or that brought the program with that digest.

        The latest chain is first.
        """
        with self._cursor() as cursor:
            return growth.steps_called(cursor, named)

    def end_sitting(self, sitting: int, status: Ending) -> None:
        """Note that a sitting has ended, and how."""
        with self._transaction() as cursor:
            queries.end_sitting(cursor, sitting, status)

    def played(self, run: int) -> set[Fixture]:
        """The fixtures of a run that have been played."""
        with self._cursor() as cursor:
            return set(queries.matches(cursor, run))

    def programs(self) -> dict[str, Program]:
        """Every program of the record, by digest."""
        with self._cursor() as cursor:
            return queries.programs(cursor)

    def outcome(self, match: int) -> queries.Played:
        """A match with all that is needed to play it again. Raises `NotFound`."""
        with self._cursor() as cursor:
            return queries.outcome(cursor, match)

    def digest(self, run: int) -> str:
        """SHA-256 of all that was played in a run, whenever, wherever and in whatever order."""
        with self._cursor() as cursor:
            return queries.digest(cursor, run)

    def sql(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Names of columns and rows that answer a query. Raises `UsageError` if it is none."""
        with self._cursor() as cursor:
            return queries.ask(cursor, query)

    @contextmanager
    def _cursor(self) -> Iterator[DuckDBPyConnection]:
        """A connection of this call's own: one that threads share would mix up their results."""
        with explained(self.path), self._connection.cursor() as cursor:
            yield cursor

    @contextmanager
    def _transaction(self) -> Iterator[DuckDBPyConnection]:
        with self._writing, self._cursor() as cursor:
            cursor.execute("begin")
            try:
                yield cursor
                cursor.execute("commit")
            except BaseException:
                # A commit that fails has ended its transaction itself.
                with suppress(duckdb.Error):
                    cursor.execute("rollback")
                raise


def _resolved(path: str | Path) -> Path:
    path = Path(path).resolve()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UsageError(f"{path}: a record can only be where the path is UTF-8") from None
    if path.is_dir():
        example = path / "record.duckdb"
        raise UsageError(f"{path} is a folder: name a file in it, such as {example}")
    return path


def _connect(path: Path, *, read_only: bool) -> DuckDBPyConnection:
    # While a record is written, workers have the cores.
    settings = {**SETTINGS, "threads": 2 if read_only else 1, "temp_directory": f"{path}.tmp"}
    return duckdb.connect(path, read_only=read_only, config=settings)


def _remove_empty(path: Path) -> None:
    """Let an empty file, which DuckDB would refuse, be a new record: there is nothing to lose."""
    log = path.with_name(f"{path.name}.wal")
    if path.is_file() and path.stat().st_size == 0 and not log.exists():
        path.unlink()


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)
