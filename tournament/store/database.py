"""The `Record` class, which opens a record file, writes to it and answers questions about it."""

import itertools
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self

import duckdb
from duckdb import DuckDBPyConnection

from tournament.errors import UsageError
from tournament.game import Move
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.store import evolution, lock, migrations, queries, rows
from tournament.store.failures import explained

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": "1GB",
    # Most tables fit in one or two blocks. With DuckDB's default block size, even a small record
    # would take 4 MB.
    "default_block_size": "65536",
    "preserve_insertion_order": False,
    "autoinstall_known_extensions": False,
    # Queries cannot reach files, the network or the variables of this program.
    "enable_external_access": False,
    "python_enable_replacements": False,
}

Ending = Literal["done", "interrupted", "failed"]
"""The ways in which a session can end."""
MATCHES = "(select count(*) from matches where matches.session = sessions.session)"
"""Counts the matches that were played in a session."""
END_SESSION = f"""
    update sessions set status = ?, ended_at = now() at time zone 'utc', matches = {MATCHES}
    where session = ?
"""
END_ABANDONED = f"""
    update sessions set status = 'interrupted', matches = {MATCHES} where status = 'running'
"""
"""Marks all sessions that are still recorded as running as interrupted.

The process that runs this is the only writer, so the processes that ran those sessions were killed. When that happened
is not known, so `ended_at` stays null.
"""


class Record:
    """An open record. One process may write it, using `open`; others may only read it, using `read`.

    Threads may share a record. Each method that writes is one transaction, so what it wrote is
    committed once it has returned.
    """

    def __init__(self, path: Path, connection: DuckDBPyConnection, closing: ExitStack) -> None:
        self.path = path
        self._connection = connection
        self._closing = closing
        self._writing = threading.Lock()

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the record at `path` so that only this process can write it; create the file if it does not exist.

        Raises `RecordBusy` if another process has it open, `RecordRefused` if the file cannot be a record, and
        `RecordError` if it cannot be read or written. Raises `UsageError` if `path` is a folder or is not UTF-8.
        """
        path = _resolved(path)
        with explained(path), ExitStack() as closing:
            path.parent.mkdir(parents=True, exist_ok=True)
            closing.callback(os.close, lock.take(path))
            _remove_empty(path)
            connection = closing.enter_context(_connect(path, read_only=False))
            migrations.migrate(connection, path)
            connection.execute(END_ABANDONED)
            return cls(path, connection, closing.pop_all())

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open the record at `path` for reading only.

        Raises `UsageError` if the file does not exist, `RecordBusy` while a process writes it, `RecordRefused` if
        the file is not a record, and `RecordError` if it cannot be read.
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
        """Close the file, and release the lock if this record was opened for writing."""
        with explained(self.path):
            self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def begin_run(
        self, key: str, config: Mapping[str, Any], seed: int, moves: Sequence[Sequence[Move]]
    ) -> int:
        """Return the number of the run with this key; insert the run if the key is new.

        `config` must be ready for JSON. Its "game" and the "discount" in its "repetition" also get
        columns of their own. `moves[seat]` are the legal moves of that seat.
        """
        values = {
            "key": key,
            "game": config.get("game"),
            "seed": str(seed),
            "discount": config.get("repetition", {}).get("discount", 1.0),
            "moves": [[str(move) for move in legal] for legal in moves],
            "config": _json(config),
        }
        with self._transaction() as cursor:
            known = cursor.execute("select run from runs where key = ?", [key]).fetchone()
            return int(known[0]) if known else _insert(cursor, "run", "runs", values)

    def begin_session(
        self,
        run: int,
        manifest: Mapping[str, Any],
        entrants: Iterable[tuple[Program, str]],
        left_out: Iterable[tuple[str, str]] = (),
    ) -> int:
        """Insert a new session of a run and return its number.

        `entrants` are the programs that play, each with the name of its bot. `left_out` are the
        names of files that do not play, each with the reason. `manifest` must be ready for JSON; the
        views read its engine, python, wasmtime, image, layers, workers, strict and command.
        """
        with self._transaction() as cursor:
            values = {"run": run, "started_at": datetime.now(UTC).replace(tzinfo=None)}
            values |= {"status": "running", "matches": 0, "manifest": _json(manifest)}
            session = _insert(cursor, "session", "sessions", values)
            rows.insert_entrants(cursor, session, entrants, left_out)
            return session

    def admit(self, session: int, program: Program) -> None:
        """Add a program to a session, under the name that the record has for it, or else under its own name."""
        with self._transaction() as cursor:
            known = queries.programs(cursor).get(program.digest, program)
            rows.insert_entrants(cursor, session, [(program, known.name)], [])

    def append(self, session: int, outcomes: Sequence[Outcome]) -> range:
        """Insert either all of these outcomes or none, and return their match numbers.

        Their programs must already be in the record. The caller must make sure that no fixture of a
        run is inserted twice: `played` returns the fixtures that the record already has.
        """
        with self._transaction() as cursor:
            first = queries.last(cursor, "match", "matches") + 1
            matches = range(first, first + len(outcomes))
            numbered = dict(zip(matches, outcomes, strict=True))
            rows.insert_matches(cursor, session, numbered)
            return matches

    def replace(self, session: int, outcomes: Sequence[Outcome]) -> None:
        """Store outcomes in place of the recorded ones of the same fixtures, under the same match numbers.

        An outcome whose fixture has not been recorded yet gets a new match number.
        """
        with self._transaction() as cursor:
            known = queries.matches(cursor, queries.run_of(cursor, session))
            new = itertools.count(queries.last(cursor, "match", "matches") + 1)
            numbered = {known.get(each.fixture) or next(new): each for each in outcomes}
            rows.remove_matches(cursor, list(numbered))
            rows.insert_matches(cursor, session, numbered)

    def begin_chain(
        self, run: int, name: str, oracles: Sequence[str], plan: Mapping[str, Any]
    ) -> int:
        """Return the number of a run's chain with this name, oracles and plan; insert it if it is new."""
        key = {"run": run, "name": name, "oracles": list(oracles), "plan": _json(plan)}
        same = " and ".join(f"{column} = ?" for column in key)
        with self._transaction() as cursor:
            query = f"select chain from chains where {same}"
            known = cursor.execute(query, [*key.values()]).fetchone()
            return int(known[0]) if known else _insert(cursor, "chain", "chains", key)

    def keep_step(self, chain: int, step: evolution.RecordedStep) -> None:
        """Store a step of a chain. If the record has the step with other values, its later steps are deleted."""
        with self._transaction() as cursor:
            evolution.keep_step(cursor, chain, step)

    def chains(self) -> list[evolution.RecordedChain]:
        """Return all chains, in the order in which they were begun."""
        found = self._ask("select chain, run, name, oracles, plan from chains order by chain")
        return [
            evolution.RecordedChain(chain, run, name, tuple(oracles), json.loads(plan))
            for chain, run, name, oracles, plan in found
        ]

    def steps(self, chain: int) -> list[evolution.RecordedStep]:
        """Return the steps of a chain, in order."""
        with self._cursor() as cursor:
            return evolution.steps(cursor, chain)

    def keep_calls(self, calls: Sequence[Mapping[str, Any]]) -> None:
        """Store calls to models with their answers. `evolution.CALL` lists the keys that each call must have."""
        with self._transaction() as cursor:
            evolution.keep_calls(cursor, calls)

    def call_keys(self) -> set[str]:
        """Return the keys of all calls to models."""
        return {key for (key,) in self._ask("select key from calls")}

    def find_call(self, key: str) -> str | None:
        """Return the call with this key and its answer as a line of JSON, or None if there is no such call."""
        found = self._ask("select line from calls where key = ?", [key])
        return str(found[0][0]) if found else None

    def call_lines(self) -> list[str]:
        """Return every call with its answer as a line of JSON, in the order in which they were stored."""
        return [line for (line,) in self._ask("select line from calls order by asked_at, key")]

    def programs_called(
        self, named: str, run: int | None = None, chain: int | None = None
    ) -> list[Program]:
        """Return the programs with this name, number or beginning of a digest, of `run` and `chain` if they are given.

        Programs whose own name this is come first; otherwise the latest comes first.
        """
        parameters = {"named": named, "run": run, "chain": chain}
        found = self._ask(evolution.PROGRAMS_CALLED, parameters)
        known = self.programs()
        return [known[digest] for (digest,) in found]

    def steps_called(self, named: str) -> list[tuple[int, int, str | None]]:
        """Return the steps that have this name, or that produced the program with this digest.

        Each step is given as its chain, its number in the chain, and the digest of its program (None if it
        produced none). The steps of the latest chain come first.
        """
        return self._ask(evolution.STEPS_CALLED, {"named": named})

    def end_session(self, session: int, status: Ending) -> None:
        """Record that a session has ended, and in which way."""
        with self._transaction() as cursor:
            cursor.execute(END_SESSION, [status, session])

    def played(self, run: int) -> set[Fixture]:
        """Return the fixtures of a run that have been played."""
        with self._cursor() as cursor:
            return set(queries.matches(cursor, run))

    def programs(self) -> dict[str, Program]:
        """Return every program of the record, by digest."""
        with self._cursor() as cursor:
            return queries.programs(cursor)

    def outcome(self, match: int) -> queries.Played:
        """Return a match with all that is needed to play it again. Raises `NotFound` if there is no such match."""
        with self._cursor() as cursor:
            return queries.outcome(cursor, match)

    def digest(self, run: int) -> str:
        """Return a SHA-256, in hexadecimal, of what was played in a run.

        It does not depend on when, where or in which order the matches were played. Raises `NotFound`
        if there is no such run.
        """
        with self._cursor() as cursor:
            return queries.digest(cursor, run)

    def sql(self, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the column names and the rows that answer a query. Raises `UsageError` if it cannot be answered."""
        with self._cursor() as cursor:
            return queries.ask(cursor, query)

    def _ask(self, query: str, parameters: object = None) -> list[Any]:
        """Return the rows that answer one of the engine's own queries."""
        with self._cursor() as cursor:
            return cursor.execute(query, parameters).fetchall()

    @contextmanager
    def _cursor(self) -> Iterator[DuckDBPyConnection]:
        """Yield a connection that only this call uses, since threads that shared one would mix up their results."""
        with explained(self.path), self._connection.cursor() as cursor:
            yield cursor

    @contextmanager
    def _transaction(self) -> Iterator[DuckDBPyConnection]:
        """Yield a connection inside a transaction, which is rolled back if the body raises."""
        with self._writing, self._cursor() as cursor:
            cursor.execute("begin")
            try:
                yield cursor
                cursor.execute("commit")
            except BaseException:
                # A commit that failed has already ended the transaction, so the rollback may fail.
                with suppress(duckdb.Error):
                    cursor.execute("rollback")
                raise


def _resolved(path: str | Path) -> Path:
    """Return the absolute path. Raises `UsageError` if it is a folder or is not UTF-8."""
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
    # A process that writes a record leaves the other cores to its workers.
    settings = {**SETTINGS, "threads": 2 if read_only else 1, "temp_directory": f"{path}.tmp"}
    return duckdb.connect(path, read_only=read_only, config=settings)


def _remove_empty(path: Path) -> None:
    """Remove an empty file without a log, which DuckDB would refuse to open. It contains no data to lose."""
    log = path.with_name(f"{path.name}.wal")
    if path.is_file() and path.stat().st_size == 0 and not log.exists():
        path.unlink()


def _insert(cursor: DuckDBPyConnection, column: str, table: str, values: Mapping[str, Any]) -> int:
    """Insert a row under the next number in a column, and return the number."""
    number = queries.last(cursor, column, table) + 1
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    query = f"insert into {table} ({column}, {names}) values (?, {marks})"
    cursor.execute(query, [number, *values.values()])
    return number


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True)
