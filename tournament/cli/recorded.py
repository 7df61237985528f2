"""The commands that list games, bots and runs, or show what was recorded."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tournament.cli.app import FAULT, USAGE, say
from tournament.cli.options import RESULTS, Db, Json, Run
from tournament.cli.playing import say_left_out
from tournament.cli.reading import (
    reading,
    rows_of,
    run_of,
    show_answer,
    show_leaderboard,
    show_rows,
)
from tournament.errors import UsageError


def list_(
    what: Annotated[str, typer.Argument(metavar="games|bots|runs")],
    pop: Annotated[
        list[Path] | None, typer.Option("--pop", "-p", metavar="PATH", help="Whose bots.")
    ] = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """List the games, the bots, or the runs on record.

    Example: tournament list games
    """
    from tournament.library import find_bots, packaged_bots
    from tournament.report import listing

    if what == "runs":
        with reading(db) as record:
            rows = rows_of(record, listing.RUNS)
    elif what == "games":
        rows = listing.games()
    elif what == "bots":
        entrants = find_bots(pop or [packaged_bots()])
        rows = listing.bots(entrants)
        say_left_out(entrants.left_out)
    else:
        raise UsageError(f"{what!r} cannot be listed: say games, bots or runs")
    show_rows(rows, json)


def leaderboard(run: Run = None, db: Db = RESULTS, json: Json = False) -> None:
    """Print the standings of a run: mean payoff a round, and its 95 % interval.

    Example: tournament leaderboard --db results/tournament.duckdb
    """
    with reading(db) as record:
        show_leaderboard(record, run_of(record, run), json)


def matrix(run: Run = None, db: Db = RESULTS, json: Json = False) -> None:
    """Print what each bot was paid a round against each other.

    Example: tournament matrix --json
    """
    from tournament.report import tables

    with reading(db) as record:
        number = run_of(record, run)
        rows = rows_of(record, f"select * exclude (run) from payoff_matrix where run = {number}")
        order = rows_of(record, f"select bot from leaderboard where run = {number}")
    if json:
        tables.show_json(rows)
    else:
        tables.show(*tables.matrix(rows, [row["bot"] for row in order]))


def replay(
    match: Annotated[int, typer.Argument(metavar="MATCH")],
    game: Annotated[
        str | None, typer.Option("--game", metavar="FILE", help="The file of a game of your own.")
    ] = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """Play a match from the record again, strictly; exit 1 if it comes out differently.

    Example: tournament replay 17
    """
    from tournament.report import transcript
    from tournament.runs.replay import replay

    with reading(db) as record:
        recorded = record.outcome(match)
    result = replay(recorded, game, say)
    transcript.show_replay(result, json)
    if not result.identical:
        sys.exit(FAULT)


def digest(
    run: Annotated[int | None, typer.Argument(metavar="[RUN]")] = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """Print one digest over all that was played in a run, free of times, ids, order and fuel.

    Two runs that print the same digest played the same.

    Example: tournament digest
    """
    from tournament.report import tables

    with reading(db) as record:
        number = run_of(record, run)
        value = record.digest(number)
    if json:
        tables.show_json({"run": number, "digest": value})
    else:
        typer.echo(value)


def sql(
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]")] = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """Ask the record in SQL; it cannot be changed this way. Without a query, a prompt.

    Example: tournament sql "select * from leaderboard"
    """
    from tournament.report import prompt

    with reading(db) as record:
        if query is not None:
            text = query.encode("utf-8", "replace").decode()
            show_answer(record.sql(text), json)
        elif not prompt.ask(record.sql, lambda answer: show_answer(answer, json)):
            sys.exit(USAGE)
