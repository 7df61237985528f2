"""The `tournament` command. No logic: it reads arguments, calls the floors below, and prints."""

import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from tournament.cli_options import (
    FUEL,
    RESULTS,
    Continue,
    Db,
    Discount,
    Fuel,
    Game,
    Growing,
    Json,
    Noise,
    Rounds,
    Run,
    Seed,
    Set,
    Workers,
    with_growing,
)
from tournament.errors import TournamentError, UsageError
from tournament.report.text import counted, printable

if TYPE_CHECKING:
    from tournament.game import Repetition, Setting
    from tournament.grow import Growth
    from tournament.sitting import Sitting, Summary
    from tournament.store import Record

FAULT = 1
USAGE = 2

app = typer.Typer(
    name="tournament",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Plays programs that read each other's source against each other, and records every match.",
)


def main() -> None:
    """Run the command; a deliberate error is one line on stderr."""
    try:
        _run_app()
    except UsageError as error:
        _stop(str(error), USAGE)
    except TournamentError as error:
        _stop(str(error), FAULT)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        # What is left to be printed would fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            sys.exit(FAULT)
        _stop(f"{error.filename or 'what comes out cannot be written'}: {error.strerror}", FAULT)


def _run_app() -> None:
    _open_streams()
    try:
        app()
    finally:
        sys.stdout.flush()


def _open_streams() -> None:
    """See to it that there is a stdin, stdout and stderr, and that they take any text."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # Or else the next file opened would get its number, and what is printed would go there.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop(problem: str, code: int) -> NoReturn:
    _say(f"tournament: {problem}")
    sys.exit(code)


def _say(text: str) -> None:
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()


@app.command()
@with_growing
def run(
    growing: Growing,
    pop: Annotated[
        list[Path] | None,
        typer.Option("--pop", "-p", metavar="PATH", help="Folders and files of bots (packaged)."),
    ] = None,
    game: Game = "prisoners_dilemma",
    set_: Set = None,
    rounds: Rounds = None,
    continuation: Continue = None,
    discount: Discount = 1.0,
    noise: Noise = 0.0,
    reps: Annotated[int, typer.Option(metavar="N", min=1, help="Repetitions of a lineup.")] = 10,
    seed: Seed = 0,
    workers: Workers = None,
    strict: Annotated[bool, typer.Option("--strict", help="Check every seat alone.")] = False,
    evolve: Annotated[
        int, typer.Option(metavar="N", min=0, help="Grow N chains of programs meanwhile.")
    ] = 0,
    fuel: Fuel = FUEL,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """Play every bot against every other and itself, and record it.

    The same command again plays only what is missing: go on after a stop, add bots, raise --reps.

    Example: tournament run --pop bots/ --game prisoners_dilemma --rounds 200
    """
    import anyio

    from tournament.engine.run import Contest
    from tournament.library import find_bots, packaged_bots
    from tournament.report.progress import progress
    from tournament.sitting import Table, line_up, open_sittings

    setting = _setting(game, set_, rounds, continuation, discount, noise)
    entrants = find_bots(pop or [packaged_bots()])
    lineup = line_up(setting, entrants)
    programs = {program.digest: program for program in lineup.programs}
    contest = Contest(setting, seed, programs, _limits(fuel), strict)
    growth = None
    if evolve:
        growth = tournament.cli_grow.make_growth(growing, evolve, seed, setting)
    elif growing != Growing():
        raise UsageError("nothing is grown without --evolve N: leave the options for it out")
    table = Table(contest, lineup, reps, growth)
    opening = (db, [table], workers or os.cpu_count() or 1, _say)

    async def sit() -> int:
        async with open_sittings(*opening) as [sitting]:
            planned = sitting.summary.planned
            size = f"{counted(len(programs), 'bot')}, {_matches(planned)}"
            _say(f"{_described(setting)}: {size}")
            _say_before(sitting)
            with progress(len(sitting.missing)) as watch:
                summary = await sitting.hold(watch)
            code = _finish(sitting.record, summary, db, json)
            return code or (_finish_growth(growth, sitting) if growth else 0)

    sys.exit(anyio.run(sit))


def _say_before(sitting: "Sitting") -> None:
    _say_left_out(sitting.lineup.problems)
    if sitting.lineup.elsewhere:
        files = ", ".join(file.removesuffix(".py") for file, _ in sitting.lineup.elsewhere)
        _say(f"left out, for they play other games: {files}")
    if sitting.summary.before:
        _say(f"{counted(sitting.summary.before, 'of them is', 'of them are')} played already")


def _finish(record: "Record", summary: "Summary", db: Path, json: bool) -> int:
    """Say what came of a sitting; return the exit code."""
    if summary.signal:
        _say(
            f"stopped after {summary.before + summary.played:,} of {_matches(summary.planned)}; "
            "the same command goes on from there"
        )
        return 128 + summary.signal
    _print_leaderboard(record, summary.run, json)
    for digest in summary.leaky:
        name = record.programs()[digest].name
        _say(f"leaky: {name} moves differently when it plays alone; it was played alone")
    _say(f"{_matches(summary.played)} played, recorded as run {summary.run} in {db}")
    if summary.lost:
        _say(f"{_matches(len(summary.lost))} could not be played: their workers died; try again")
        return FAULT
    return 0


def _finish_growth(growth: "Growth", sitting: "Sitting") -> int:
    """Say what models took; return the exit code."""
    from tournament.report.growth import SPENDING, spent

    [spending] = _rows(sitting.record, SPENDING.format(runs=sitting.run))
    if spending["calls"]:
        _say(spent(**spending))
    return FAULT if growth.cut_off else 0


def _matches(number: int) -> str:
    return counted(number, "match", "matches")


def _say_left_out(problems: Iterable[tuple[str, str]]) -> None:
    for file, problem in problems:
        _say(f"left out: {file} {problem}")


@app.command("list")
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
        with _reading(db) as record:
            rows = _rows(record, listing.RUNS)
    elif what == "games":
        rows = listing.games()
    elif what == "bots":
        entrants = find_bots(pop or [packaged_bots()])
        rows = listing.bots(entrants)
        _say_left_out(entrants.left_out)
    else:
        raise UsageError(f"{what!r} cannot be listed: say games, bots or runs")
    _print(rows, json)


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...")],
    game: Game = "prisoners_dilemma",
    fuel: Fuel = FUEL,
    json: Json = False,
) -> None:
    """Does a bot load, obey and finish? Plays it against probes in the sandbox.

    A bot is checked in the games that its `Plays:` header names, or in --game. Exit 1 if one has a fault.

    Example: tournament check my_bot.py
    """
    from tournament.check import check
    from tournament.library import find_bots
    from tournament.report import findings

    entrants = find_bots(files)
    reports = check(entrants, game, _say, _limits(fuel))
    findings.show(reports, entrants.refused, json)
    if entrants.refused or not all(report.ok for report in reports):
        sys.exit(FAULT)


@app.command()
def play(
    bots: Annotated[list[str], typer.Argument(metavar="A B ...", help="Names or files, by seat.")],
    game: Game = "prisoners_dilemma",
    set_: Set = None,
    rounds: Rounds = None,
    continuation: Continue = None,
    discount: Discount = 1.0,
    noise: Noise = 0.0,
    repetition: Annotated[int, typer.Option(metavar="N", min=0, help="Which repetition.")] = 0,
    seed: Seed = 0,
    fuel: Fuel = FUEL,
    json: Json = False,
) -> None:
    """Play one match, round by round. Exit 1 if a bot is at fault.

    Example: tournament play tit_for_tat always_defect --rounds 5
    """
    from tournament.engine.run import Contest
    from tournament.library import load_bot
    from tournament.match import Fixture
    from tournament.report import transcript
    from tournament.single import play_strictly

    setting = _setting(game, set_, rounds, continuation, discount, noise)
    if len(bots) != setting.game.seats:
        raise UsageError(
            f"{setting.game.name} takes {counted(setting.game.seats, 'bot')}, not {len(bots)}"
        )
    programs = [load_bot(name) for name in bots]
    contest = Contest(setting, seed, {p.digest: p for p in programs}, _limits(fuel))
    fixture = Fixture(tuple(program.digest for program in programs), repetition)
    [outcome] = play_strictly(contest, [fixture], _say)
    transcript.show(setting, [program.name for program in programs], outcome, json)
    if outcome.faults:
        sys.exit(FAULT)


@app.command()
def prove(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]...", help="Bots to be named too.")
    ] = None,
    game: Game = "prisoners_dilemma",
    set_: Set = None,
    worlds: Annotated[
        bool, typer.Option("--worlds", help="Show what is played at each world.")
    ] = False,
    fuel: Fuel = FUEL,
    json: Json = False,
) -> None:
    """Is it provable what programs play against each other? Bots of the library, or of files, by name.

    Exit 1 if the statement does not hold.

    Example: tournament prove "FairBot(PrudentBot) == C" --worlds
    """
    from tournament.library import find_bots, packaged_sources
    from tournament.report import proof
    from tournament.single import prove_about

    setting = _setting(game, set_, None, None, 1.0, 0.0)
    own = find_bots(files).programs if files else ()
    library = packaged_sources() | {program.name: program.source for program in own}
    answer = prove_about(statement, setting, library, _limits(fuel), _say)
    proof.show(statement, answer, worlds, json)
    if not answer.holds:
        sys.exit(FAULT)


@app.command()
def leaderboard(run: Run = None, db: Db = RESULTS, json: Json = False) -> None:
    """Print the standings of a run: mean payoff a round, and its 95 % interval.

    Example: tournament leaderboard --db results/tournament.duckdb
    """
    with _reading(db) as record:
        _print_leaderboard(record, _run(record, run), json)


@app.command()
def matrix(run: Run = None, db: Db = RESULTS, json: Json = False) -> None:
    """Print what each bot was paid a round against each other.

    Example: tournament matrix --json
    """
    from tournament.report import tables

    with _reading(db) as record:
        number = _run(record, run)
        rows = _rows(record, f"select * exclude (run) from payoff_matrix where run = {number}")
        order = _rows(record, f"select bot from leaderboard where run = {number}")
    if json:
        tables.show_json(rows)
    else:
        tables.show(*tables.matrix(rows, [row["bot"] for row in order]))


@app.command()
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
    from tournament.replay import replay
    from tournament.report import transcript

    with _reading(db) as record:
        recorded = record.outcome(match)
    result = replay(recorded, game, _say)
    transcript.show_replay(result, json)
    if not result.identical:
        sys.exit(FAULT)


@app.command()
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

    with _reading(db) as record:
        number = _run(record, run)
        value = record.digest(number)
    if json:
        tables.show_json({"run": number, "digest": value})
    else:
        typer.echo(value)


@app.command()
def sql(
    query: Annotated[str | None, typer.Argument(metavar="[QUERY]")] = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """Ask the record in SQL; it cannot be changed this way. Without a query, a prompt.

    Example: tournament sql "select * from leaderboard"
    """
    from tournament.report import prompt

    with _reading(db) as record:
        if query is not None:
            text = query.encode("utf-8", "replace").decode()
            _print_answer(record.sql(text), json)
        elif not prompt.ask(record.sql, lambda answer: _print_answer(answer, json)):
            sys.exit(USAGE)


def _setting(
    game: str,
    parameters: Sequence[str] | None,
    rounds: int | None,
    continuation: float | None,
    discount: float,
    noise: float,
) -> "Setting":
    from tournament.game import Setting
    from tournament.library import load_game

    pairs = dict(_pair(text) for text in parameters or ())
    return Setting(load_game(game, pairs), _repetition(rounds, continuation, discount, noise))


def _repetition(
    rounds: int | None, continuation: float | None, discount: float, noise: float
) -> "Repetition":
    from tournament.game import Repetition

    if rounds is None and continuation is None:
        rounds = 1
    return Repetition(rounds, continuation, discount, noise)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set takes NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def _limits(fuel: int) -> Any:
    from tournament.sandbox.limits import LEAST_FUEL, MOST_FUEL, Limits

    if not LEAST_FUEL <= fuel <= MOST_FUEL:
        raise UsageError(f"--fuel is {fuel:,}, and must be from {LEAST_FUEL:,} to {MOST_FUEL:,}")
    return Limits(fuel=fuel)


def _described(setting: "Setting") -> str:
    repetition = setting.repetition
    if repetition.continuation is not None:
        times = f"continued with probability {repetition.continuation:g}"
    else:
        [times] = setting.kinds & {"one-shot", "repeated", "episodic"}
        if times == "repeated":
            times = f"{repetition.rounds} rounds"
    noise = f", noise {repetition.noise:g}" if repetition.noise else ""
    discount = f", discount {repetition.discount:g}" if repetition.discount != 1 else ""
    return f"{setting.game.name}, {times}{noise}{discount}"


@contextmanager
def _reading(db: Path) -> "Iterator[Record]":
    from tournament.store import Record

    with Record.read(db) as record:
        yield record


def _run(record: "Record", run: int | None) -> int:
    """The run that is meant: the one given, or that of the latest sitting."""
    from tournament.errors import NotFound

    latest = _rows(record, "select run, status from sittings order by sitting desc")
    known = [row["run"] for row in latest]
    if run is None and not known:
        raise UsageError("nothing has been played yet: see `tournament run --help`")
    if run is not None and run not in known:
        raise NotFound("run", str(run), sorted({str(number) for number in known}))
    number = known[0] if run is None else run
    ending = next(row["status"] for row in latest if row["run"] == number)
    if ending != "done":
        how = "was killed" if ending == "running" else f"ended as {ending}"
        _say(f"run {number} is not complete: its latest sitting {how}")
    return number


def _rows(record: "Record", query: str) -> list[dict[str, Any]]:
    from tournament.report import tables

    return tables.objects(*record.sql(query))


def _print_answer(answer: tuple[list[str], list[tuple[Any, ...]]], json: bool) -> None:
    """Print rows of columns, even if none or if two columns have one name."""
    from tournament.report import tables

    columns = tables.distinct(answer[0])
    rows = tables.objects(columns, answer[1])
    if json:
        tables.show_json(rows)
    else:
        tables.show(rows, columns)


def _print(rows: list[dict[str, Any]], json: bool) -> None:
    from tournament.report import tables

    if json:
        tables.show_json(rows)
    elif rows:
        tables.show(rows, list(rows[0]))
    else:
        _say("no rows")


def _print_leaderboard(record: "Record", run: int, json: bool) -> None:
    query = f"select * exclude (run) from leaderboard where run = {run} order by rank, bot"
    _print(_rows(record, query), json)


import tournament.cli_grow  # noqa: E402 - its commands join those above
