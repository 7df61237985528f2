"""The commands that play tournaments and single matches, check bots and decide proofs."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tournament.cli.app import FAULT, say
from tournament.cli.evolving import make_evolution
from tournament.cli.options import (
    FUEL,
    RESULTS,
    Db,
    EvolutionOptions,
    Fuel,
    Game,
    Json,
    Seed,
    Set,
    Terms,
    Workers,
    limits_of,
    with_groups,
)
from tournament.cli.reading import rows_of, show_leaderboard
from tournament.errors import UsageError
from tournament.report.text import counted

if TYPE_CHECKING:
    from tournament.game import Setting
    from tournament.runs.evolution import Evolution
    from tournament.runs.session import Session, Summary
    from tournament.store import Record


@with_groups
def run(
    *,
    pop: Annotated[
        list[Path] | None,
        typer.Option("--pop", "-p", metavar="PATH", help="Folders and files of bots (packaged)."),
    ] = None,
    game: Game = "prisoners_dilemma",
    terms: Terms,
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
    growing: EvolutionOptions,
) -> None:
    """Play every bot against every other and itself, and record it.

    The same command again plays only what is missing: go on after a stop, add bots, raise --reps.

    Example: tournament run --pop bots/ --game prisoners_dilemma --rounds 200
    """
    import anyio

    from tournament.engine.run import Contest
    from tournament.library import find_bots, packaged_bots
    from tournament.report.progress import progress
    from tournament.runs.session import SessionSettings, open_sessions, select_participants

    setting = terms.setting(game)
    entrants = find_bots(pop or [packaged_bots()])
    lineup = select_participants(setting, entrants)
    programs = {program.digest: program for program in lineup.programs}
    contest = Contest(setting, seed, programs, limits_of(fuel), strict)
    evolution = None
    if evolve:
        evolution = make_evolution(growing, evolve, seed, setting)
    elif growing != EvolutionOptions():
        raise UsageError("nothing is grown without --evolve N: leave the options for it out")
    table = SessionSettings(contest, lineup, reps, evolution)
    opening = (db, [table], workers or os.cpu_count() or 1, say)

    async def sit() -> int:
        async with open_sessions(*opening) as [session]:
            planned = session.summary.planned
            size = f"{counted(len(programs), 'bot')}, {_matches(planned)}"
            say(f"{_described(setting)}: {size}")
            _say_before(session)
            with progress(len(session.missing)) as watch:
                summary = await session.play(watch)
            code = _finish(session.record, summary, db, json)
            return code or (_finish_evolution(evolution, session) if evolution else 0)

    sys.exit(anyio.run(sit))


def _say_before(session: "Session") -> None:
    """Print which files are left out and how many matches are already recorded."""
    say_left_out(session.lineup.problems)
    if session.lineup.other_games:
        files = ", ".join(file.removesuffix(".py") for file, _ in session.lineup.other_games)
        say(f"left out, for they play other games: {files}")
    if session.summary.before:
        say(f"{counted(session.summary.before, 'of them is', 'of them are')} played already")


def _finish(record: "Record", summary: "Summary", db: Path, json: bool) -> int:
    """Print the result of a session and return the exit code."""
    if summary.signal:
        say(
            f"stopped after {summary.before + summary.played:,} of {_matches(summary.planned)}; "
            "the same command goes on from there"
        )
        return 128 + summary.signal
    show_leaderboard(record, summary.run, json)
    for digest in summary.leaky:
        name = record.programs()[digest].name
        say(f"leaky: {name} moves differently when it plays alone; it was played alone")
    say(f"{_matches(summary.played)} played, recorded as run {summary.run} in {db}")
    if summary.lost:
        say(f"{_matches(len(summary.lost))} could not be played: their workers died; try again")
        return FAULT
    return 0


def _finish_evolution(evolution: "Evolution", session: "Session") -> int:
    """Print what the models used and return the exit code.

    The code is 1 if a chain ended early for another reason than its budget.
    """
    from tournament.report.evolution import SPENDING, spent

    [spending] = rows_of(session.record, SPENDING.format(runs=session.run))
    if spending["calls"]:
        say(spent(**spending))
    return FAULT if evolution.cut_off else 0


def _matches(number: int) -> str:
    return counted(number, "match", "matches")


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
    from tournament.library import find_bots
    from tournament.report import findings
    from tournament.runs.check import check

    entrants = find_bots(files)
    reports = check(entrants, game, say, limits_of(fuel))
    findings.show(reports, entrants.refused, json)
    if entrants.refused or not all(report.ok for report in reports):
        sys.exit(FAULT)


@with_groups
def play(
    *,
    bots: Annotated[list[str], typer.Argument(metavar="A B ...", help="Names or files, by seat.")],
    game: Game = "prisoners_dilemma",
    terms: Terms,
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
    from tournament.runs.single import play_strictly

    setting = terms.setting(game)
    if len(bots) != setting.game.seats:
        raise UsageError(
            f"{setting.game.name} takes {counted(setting.game.seats, 'bot')}, not {len(bots)}"
        )
    programs = [load_bot(name) for name in bots]
    contest = Contest(setting, seed, {p.digest: p for p in programs}, limits_of(fuel))
    fixture = Fixture(tuple(program.digest for program in programs), repetition)
    [outcome] = play_strictly(contest, [fixture], say)
    transcript.show(setting, [program.name for program in programs], outcome, json)
    if outcome.faults:
        sys.exit(FAULT)


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
    from tournament.runs.single import prove_about

    setting = Terms(set_).setting(game)
    own = find_bots(files).programs if files else ()
    library = packaged_sources() | {program.name: program.source for program in own}
    answer = prove_about(statement, setting, library, limits_of(fuel), say)
    proof.show(statement, answer, worlds, json)
    if not answer.holds:
        sys.exit(FAULT)


def say_left_out(problems: Iterable[tuple[str, str]]) -> None:
    """Print which files are left out, and why."""
    for file, problem in problems:
        say(f"left out: {file} {problem}")
