"""The commands that list games, bots and runs, or show what was recorded."""

import sys
from typing import Annotated

import typer

from tournament.cli import options, reading
from tournament.cli.app import FAULT, USAGE, print_message
from tournament.cli.options import RESULTS
from tournament.cli.playing import print_left_out
from tournament.errors import UsageError


def list_(
    what: Annotated[str, typer.Argument(metavar="games|bots|runs")],
    pop: options.Bots = None,
    db: options.Db = RESULTS,
    json: options.Json = False,
) -> None:
    """List games, bots, or the runs of the record.

    Example: tournament list games
    """
    from tournament.library import find_bots, packaged_bots
    from tournament.report import listing

    if what == "runs":
        with reading.open_record(db) as record:
            rows = reading.rows_of(record, listing.RUNS)
    elif what == "games":
        rows = listing.games()
    elif what == "bots":
        entrants = find_bots(pop or [packaged_bots()])
        rows = listing.bots(entrants)
        print_left_out(entrants.left_out)
    else:
        raise UsageError(f"{what!r} cannot be listed: choose games, bots or runs")
    reading.show_rows(rows, json)


def leaderboard(
    run: options.Run = None, db: options.Db = RESULTS, json: options.Json = False
) -> None:
    """Print the standings of a run: the mean payoff of each bot per round, with its 95 % confidence interval.

    Example: tournament leaderboard --db results/tournament.duckdb
    """
    with reading.open_record(db) as record:
        reading.show_leaderboard(record, reading.run_of(record, run), json)


def matrix(run: options.Run = None, db: options.Db = RESULTS, json: options.Json = False) -> None:
    """Print the mean payoff per round of each bot against each other bot.

    Example: tournament matrix --json
    """
    from tournament.report import tables

    with reading.open_record(db) as record:
        number = reading.run_of(record, run)
        rows = reading.rows_of(
            record, f"select * exclude (run) from payoff_matrix where run = {number}"
        )
        order = reading.rows_of(record, f"select bot from leaderboard where run = {number}")
    if json:
        tables.show_json(rows)
    else:
        tables.show(*tables.matrix(rows, [row["bot"] for row in order]))


def replay(
    match: Annotated[int, typer.Argument(metavar="MATCH")],
    game: options.GameFile = None,
    db: options.Db = RESULTS,
    json: options.Json = False,
) -> None:
    """Play a recorded match again, each seat alone. The exit code is 1 if its moves, payoffs or faults differ.

    Example: tournament replay 17
    """
    from tournament.report import transcript
    from tournament.runs.replay import replay

    with reading.open_record(db) as record:
        recorded = record.outcome(match)
    result = replay(recorded, game, print_message)
    transcript.show_replay(result, json)
    if not result.identical:
        sys.exit(FAULT)


def digest(
    run: Annotated[int | None, typer.Argument(metavar="RUN")] = None,
    db: options.Db = RESULTS,
    json: options.Json = False,
) -> None:
    """Print a digest of everything that was played in a run.

    Two runs with the same digest played the same matches with the same moves and payoffs. Times, match numbers, the
    order of matches and fuel make no difference.

    Example: tournament digest
    """
    from tournament.report import tables

    with reading.open_record(db) as record:
        number = reading.run_of(record, run)
        value = record.digest(number)
    if json:
        tables.show_json({"run": number, "digest": value})
    else:
        typer.echo(value)


def sql(
    query: Annotated[str | None, typer.Argument(metavar="QUERY")] = None,
    db: options.Db = RESULTS,
    json: options.Json = False,
) -> None:
    """Query the record in SQL, which cannot change it. Without a query, type queries at a prompt.

    Example: tournament sql "select * from leaderboard"
    """
    from tournament.report import prompt

    with reading.open_record(db) as record:

        def answer(text: str) -> None:
            text = text.encode("utf-8", "replace").decode()
            reading.show_answer(record.sql(text), json)

        if query is not None:
            answer(query)
        elif not prompt.ask(answer):
            sys.exit(USAGE)
