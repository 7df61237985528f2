"""Helpers for commands that show the record: they open it, choose the run, and query and print rows."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tournament.cli.app import print_message
from tournament.errors import NotFound, UsageError

if TYPE_CHECKING:
    from tournament.store import Record


def open_record(db: Path) -> "AbstractContextManager[Record]":
    """Open the record in this file for reading only. Raises the same errors as `Record.read`."""
    from tournament.store import Record

    return Record.read(db)


def run_of(record: "Record", run: int | None) -> int:
    """Return the number of the given run, or of the run of the latest session if none is given.

    Prints a message if the latest session of the run was not completed. Raises `UsageError` if there is no such run.
    """
    latest = rows_of(record, "select run, status from sessions order by session desc")
    if run is None and not latest:
        raise UsageError("this record has no runs yet: see `tournament run --help`")
    number = latest[0]["run"] if run is None else run
    statuses = [row["status"] for row in latest if row["run"] == number]
    if not statuses:
        raise NotFound("run", str(run), sorted({str(row["run"]) for row in latest}))
    if statuses[0] != "done":
        ending = "was killed" if statuses[0] == "running" else f"is recorded as {statuses[0]}"
        print_message(f"run {number} is not complete: its latest session {ending}")
    return int(number)


def rows_of(record: "Record", query: str) -> list[dict[str, Any]]:
    """Return the rows of an SQL query, each as a dictionary by column. Raises `UsageError` if the query fails."""
    columns, rows = record.sql(query)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def show_answer(answer: tuple[list[str], list[tuple[Any, ...]]], json: bool) -> None:
    """Print an answer given as column names and rows.

    The column names are printed even if there are no rows, and columns that share a name are told apart.
    """
    from tournament.report import tables

    columns = tables.distinct(answer[0])
    show_rows([dict(zip(columns, row, strict=True)) for row in answer[1]], json, columns)


def show_rows(rows: list[dict[str, Any]], json: bool, columns: Sequence[str] = ()) -> None:
    """Print rows that all have the same columns, or a message if there are neither rows nor columns."""
    from tournament.report import tables

    if json:
        tables.show_json(rows)
    elif rows or columns:
        tables.show(rows, columns or list(rows[0]))
    else:
        print_message("there are no rows")


def show_leaderboard(record: "Record", run: int, json: bool) -> None:
    """Print the standings of a run."""
    query = f"select * exclude (run) from leaderboard where run = {run} order by rank, bot"
    show_rows(rows_of(record, query), json)
