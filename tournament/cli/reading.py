"""Helpers for commands that show the record: they open it, choose the run, and query and print rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tournament.cli.app import say
from tournament.errors import NotFound, UsageError

if TYPE_CHECKING:
    from tournament.store import Record


@contextmanager
def reading(db: Path) -> "Iterator[Record]":
    """Open the record in this file for reading only. Raises the same errors as `Record.read`."""
    from tournament.store import Record

    with Record.read(db) as record:
        yield record


def run_of(record: "Record", run: int | None) -> int:
    """Return the number of the given run, or of the run of the latest session if none is given.

    Prints a message if the latest session of the run was not completed. Raises `UsageError` if there is no such run.
    """
    latest = rows_of(record, "select run, status from sessions order by session desc")
    known = [row["run"] for row in latest]
    if run is None and not known:
        raise UsageError("nothing has been played yet: see `tournament run --help`")
    if run is not None and run not in known:
        raise NotFound("run", str(run), sorted({str(number) for number in known}))
    number = known[0] if run is None else run
    ending = next(row["status"] for row in latest if row["run"] == number)
    if ending != "done":
        how = "was killed" if ending == "running" else f"ended as {ending}"
        say(f"run {number} is not complete: its latest session {how}")
    return number


def rows_of(record: "Record", query: str) -> list[dict[str, Any]]:
    """Return the rows of an SQL query, each as a dictionary by column. Raises `UsageError` if the query fails."""
    from tournament.report import tables

    return tables.objects(*record.sql(query))


def show_answer(answer: tuple[list[str], list[tuple[Any, ...]]], json: bool) -> None:
    """Print an answer given as column names and rows.

    The column names are printed even if there are no rows, and columns that share a name are told apart.
    """
    from tournament.report import tables

    columns = tables.distinct(answer[0])
    rows = tables.objects(columns, answer[1])
    if json:
        tables.show_json(rows)
    else:
        tables.show(rows, columns)


def show_rows(rows: list[dict[str, Any]], json: bool) -> None:
    """Print rows that all have the same columns, or a message if there are none."""
    from tournament.report import tables

    if json:
        tables.show_json(rows)
    elif rows:
        tables.show(rows, list(rows[0]))
    else:
        say("no rows")


def show_leaderboard(record: "Record", run: int, json: bool) -> None:
    """Print the standings of a run."""
    query = f"select * exclude (run) from leaderboard where run = {run} order by rank, bot"
    show_rows(rows_of(record, query), json)
