"""The commands that play tournaments and single matches, check bots and decide proofs."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tournament.cli import options
from tournament.cli.app import FAULT, print_message
from tournament.cli.evolving import make_evolution
from tournament.cli.options import FUEL, RESULTS, EvolutionOptions, Terms, limits_of, option
from tournament.cli.reading import rows_of, show_leaderboard
from tournament.errors import UsageError
from tournament.report.text import counted

if TYPE_CHECKING:
    from tournament.game import Setting
    from tournament.runs.session import Session, Summary
    from tournament.store import Record


@options.with_groups
def run(
    *,
    pop: options.Bots = None,
    game: options.Game = "prisoners_dilemma",
    terms: Terms,
    reps: Annotated[int, option("N", "How often to play each lineup.", min=1)] = 10,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Replay every seat alone, not only a sample.")
    ] = False,
    evolve: Annotated[int, option("N", "Let N evolving chains of programs join.", min=0)] = 0,
    fuel: options.Fuel = FUEL,
    db: options.Db = RESULTS,
    json: options.Json = False,
    evolution_options: EvolutionOptions,
) -> None:
    """Play every bot against every other bot and itself, and record all matches.

    Run the same command again to continue after a stop, after adding bots, or with a higher --reps: only the matches
    that are missing are played.

    Example: tournament run --pop bots/ --game prisoners_dilemma --rounds 200
    """
    import anyio

    from tournament.engine.run import Contest
    from tournament.library import find_bots, packaged_bots
    from tournament.report.progress import progress
    from tournament.runs.session import SessionSettings, open_sessions, select_participants

    setting = terms.setting(game)
    lineup = select_participants(setting, find_bots(pop or [packaged_bots()]))
    programs = {program.digest: program for program in lineup.programs}
    contest = Contest(setting, seed, programs, limits_of(fuel), strict)
    evolution = make_evolution(evolution_options, evolve, seed, setting) if evolve else None
    if not evolve and evolution_options != EvolutionOptions():
        raise UsageError("the options for evolution need --evolve N: add it, or leave them out")
    settings = [SessionSettings(contest, lineup, reps, evolution)]

    async def play_session() -> int:
        count = workers or os.cpu_count() or 1
        async with open_sessions(db, settings, count, print_message) as [session]:
            _announce(session, setting)
            with progress(len(session.missing)) as watch:
                summary = await session.play(watch)
            return _finish(session.record, summary, db, json) or _finish_evolution(session)

    sys.exit(anyio.run(play_session))


def _announce(session: "Session", setting: "Setting") -> None:
    """Print what will be played, which files are left out, and how many matches are already recorded."""
    repetition, summary = setting.repetition, session.summary
    noise = f", noise {repetition.noise:g}" if repetition.noise else ""
    discount = f", discount {repetition.discount:g}" if repetition.discount != 1 else ""
    size = f"{counted(len(session.lineup.programs), 'bot')}, {_matches(summary.planned)}"
    print_message(f"{setting.game.name}, {setting.length}{noise}{discount}: {size}")
    print_left_out(session.lineup.problems)
    if session.lineup.other_games:
        files = ", ".join(file.removesuffix(".py") for file, _ in session.lineup.other_games)
        print_message(f"left out because they play other games: {files}")
    if summary.before:
        print_message(f"already played: {_matches(summary.before)}")


def _finish(record: "Record", summary: "Summary", db: Path, json: bool) -> int:
    """Print the result of a session and return the exit code."""
    if summary.signal:
        played = f"{summary.before + summary.played:,} of {_matches(summary.planned)}"
        print_message(f"stopped after {played}: run the same command again to continue")
        return 128 + summary.signal
    show_leaderboard(record, summary.run, json)
    for digest in summary.leaky:
        name = record.programs()[digest].name
        print_message(
            f"{name} is leaky: it moves differently in a batch than alone, so it was played alone"
        )
    print_message(f"{_matches(summary.played)} played, recorded as run {summary.run} in {db}")
    if summary.lost:
        print_message(
            f"{_matches(len(summary.lost))} could not be played because their worker processes "
            "died: run the same command again"
        )
        return FAULT
    return 0


def _finish_evolution(session: "Session") -> int:
    """Print what the models used and return the exit code.

    The code is 1 if a chain ended early for another reason than its budget.
    """
    from tournament.report.evolution import SPENDING, spending_text

    if not session.evolution:
        return 0
    [spending] = rows_of(session.record, SPENDING.format(runs=session.run))
    if spending["calls"]:
        print_message(spending_text(**spending))
    return FAULT if session.evolution.cut_off else 0


def _matches(number: int) -> str:
    return counted(number, "match", "matches")


def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE")],
    game: options.Game = "prisoners_dilemma",
    fuel: options.Fuel = FUEL,
    json: options.Json = False,
) -> None:
    """Check that bots load, make legal moves, and stay within their fuel and memory.

    Each bot is played in the sandbox, in the games that its `Plays:` header names, or in --game if it names none. The
    exit code is 1 if a bot has a fault.

    Example: tournament check my_bot.py
    """
    from tournament.library import find_bots
    from tournament.report import transcript
    from tournament.runs.check import check

    reports = check(find_bots(files), game, print_message, limits_of(fuel))
    transcript.show_reports(reports, json)
    if not all(report.ok for report in reports):
        sys.exit(FAULT)


@options.with_groups
def play(
    *,
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Names or files of bots, by seat.")
    ],
    game: options.Game = "prisoners_dilemma",
    terms: Terms,
    repetition: Annotated[int, option("N", "Which repetition of the lineup.", min=0)] = 0,
    seed: options.Seed = 0,
    fuel: options.Fuel = FUEL,
    json: options.Json = False,
) -> None:
    """Play one match and print it round by round. The exit code is 1 if a bot has a fault.

    Example: tournament play tit_for_tat always_defect --rounds 5
    """
    from tournament.engine.run import Contest
    from tournament.library import load_bot
    from tournament.match import Fixture
    from tournament.report import transcript
    from tournament.runs.single import play_strictly

    setting = terms.setting(game)
    if len(bots) != setting.game.seats:
        needed = counted(setting.game.seats, "bot")
        raise UsageError(f"{setting.game.name} needs {needed}, one for each seat, not {len(bots)}")
    programs = [load_bot(name) for name in bots]
    contest = Contest(setting, seed, {p.digest: p for p in programs}, limits_of(fuel))
    fixture = Fixture(tuple(program.digest for program in programs), repetition)
    [outcome] = play_strictly(contest, [fixture], print_message)
    transcript.show(setting, [program.name for program in programs], outcome, json)
    if outcome.faults:
        sys.exit(FAULT)


def prove(
    statement: Annotated[str, typer.Argument(metavar="STATEMENT")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="More bots that the statement may name."),
    ] = None,
    game: options.Game = "prisoners_dilemma",
    set_: options.Set = None,
    worlds: Annotated[
        bool, typer.Option("--worlds", help="Print what each program plays at each world.")
    ] = False,
    fuel: options.Fuel = FUEL,
    json: options.Json = False,
) -> None:
    """Decide whether a statement about what programs play against each other is true, and whether it is provable.

    The statement may name all packaged bots, and those in the given files. The exit code is 1 if it is not true.

    Example: tournament prove "FairBot(PrudentBot) == C" --worlds
    """
    from tournament.library import find_bots, packaged_sources
    from tournament.report import transcript
    from tournament.runs.single import prove_about

    setting = Terms(set_).setting(game)
    own = find_bots(files).programs if files else ()
    library = packaged_sources() | {program.name: program.source for program in own}
    answer = prove_about(statement, setting, library, limits_of(fuel), print_message)
    transcript.show_proof(statement, answer, worlds, json)
    if not answer.holds:
        sys.exit(FAULT)


def print_left_out(problems: Iterable[tuple[str, str]]) -> None:
    """Print which files are left out, and why."""
    for file, problem in problems:
        print_message(f"left out: {file} {problem}")
