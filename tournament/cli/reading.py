"""Reads the record for commands that show it: which run is meant, and rows as they are printed."""

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
    """The record in that file, to be looked at. Raises as `Record.read` does."""
    from tournament.store import Record

    with Record.read(db) as record:
        yield record


def run_of(record: "Record", run: int | None) -> int:
    """The run that is meant: the one given, or that of the latest sitting. Raises `UsageError`."""
    latest = rows_of(record, "select run, status from sittings order by sitting desc")
    known = [row["run"] for row in latest]
    if run is None and not known:
        raise UsageError("nothing has been played yet: see `tournament run --help`")
    if run is not None and run not in known:
        raise NotFound("run", str(run), sorted({str(number) for number in known}))
    number = known[0] if run is None else run
    ending = next(row["status"] for row in latest if row["run"] == number)
    if ending != "done":
        how = "was killed" if ending == "running" else f"ended as {ending}"
        say(f"run {number} is not complete: its latest sitting {how}")
    return number


def rows_of(record: "Record", query: str) -> list[dict[str, Any]]:
    """The rows that answer a query, by column. Raises `UsageError`."""
    from tournament.report import tables

    return tables.objects(*record.sql(query))


def show_answer(answer: tuple[list[str], list[tuple[Any, ...]]], json: bool) -> None:
    """Print rows of columns, even if none or if two columns have one name."""
    from tournament.report import tables

    columns = tables.distinct(answer[0])
    rows = tables.objects(columns, answer[1])
    if json:
        tables.show_json(rows)
    else:
        tables.show(rows, columns)


def show_rows(rows: list[dict[str, Any]], json: bool) -> None:
    """Print rows that all have the same columns."""
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
