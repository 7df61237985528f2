"""Translate errors of DuckDB and of the file system into errors that tell the user what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from tournament.errors import RecordBusy, RecordError, RecordRefused, TournamentError
from tournament.store import lock

MEANINGS = {
    "replaying WAL": "its log {path}.wal is damaged, and nothing was changed: move that file aside "
    "to go back to the last checkpoint, then start the same command again to play what is missing",
    "No space left": "the disk is full, and what was committed is safe: make room, then start the "
    "same command again",
    "in read-only mode": "it was opened for reading only",
}
"""For a fragment of DuckDB's message: the text that replaces it in a `RecordError`."""

REFUSALS = {
    "valid DuckDB database": ("it is not a record", ""),
    "Loading external extensions": ("it is a file of another kind, not a record", ""),
    "database version": ("it was written by another version of DuckDB", "upgrade"),
    "Corrupt database": ("the file is damaged", "put a copy of it in its place"),
    "Read-only file system": ("the file system is read-only", ""),
    "Permission denied": ("permission denied", ""),
}
"""For a fragment of a message: the problem, and the remedy other than naming another file (may be empty).

These become a `RecordRefused`, because naming another file solves the problem.
"""


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Raise errors of DuckDB and of the file system as a `TournamentError` of one line that says what to do."""
    try:
        yield
    except duckdb.Error as error:
        raise _explain(path, str(error)) from error
    except OSError as error:
        raise _explain(path, error.strerror or str(error)) from error


def one_line(message: str) -> str:
    """Return a message of DuckDB's on one line, without the query that it quotes."""
    return " ".join(message.partition("\nLINE ")[0].split())


def _explain(path: Path, message: str) -> TournamentError:
    if "Conflicting lock" in message:
        process = re.search(r"PID (\d+)", message)
        return RecordBusy(str(path), lock.holder(path, process[1] if process else ""))
    if "different configuration" in message:
        return RecordBusy(str(path), "this process")
    for fragment, (problem, remedy) in REFUSALS.items():
        if fragment in message:
            return RecordRefused(f"{path}: {problem}", remedy)
    for fragment, meaning in MEANINGS.items():
        if fragment in message:
            return RecordError(f"{path}: {meaning.format(path=path)}")
    return RecordError(f"{path}: {one_line(message)}")
