"""Checks a bot in the sandbox: whether it loads, makes legal moves and stays within its fuel and memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from tournament.engine.run import Contest, workers
from tournament.errors import NotFound, UsageError, WorkerLost, ungrouped
from tournament.game import Game, MatrixGame, Repetition, Setting
from tournament.library import PROBES, Entrants, games, load_game
from tournament.match import Fault, Fixture, Outcome
from tournament.program import KINDS, Program
from tournament.runs.single import played_strictly
from tournament.sandbox.image import Say
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready

ROUNDS = 20


@dataclass(frozen=True)
class Finding:
    """A fault, with the name of the game and the kind of play in which the bot committed it."""

    game: str
    play: str
    fault: Fault


@dataclass(frozen=True)
class Report:
    """The result of checking a program: its faults, or the `problem` that prevented the check.

    `matches` is the number of matches played. `fuel` is the average fuel used per move, in the match where this average
    was highest.
    """

    program: Program
    matches: int = 0
    fuel: int = 0
    findings: tuple[Finding, ...] = ()
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the program was checked and has no fault."""
        return not self.findings and not self.problem


def settings_for(program: Program, game: Game) -> list[Setting]:
    """Return the settings to check the program in.

    The games are those that the program's header names, or else the given game. A game without a state is checked both
    with one round and repeated. Raises `UsageError` if none of the games exists or none of the settings fits the
    program.
    """
    named = [word for word in program.plays if word not in KINDS]
    known = [name for name in named if name == game.name or name in games()]
    if named and not known:
        raise NotFound("game", named[0], games())
    candidates = [game if name == game.name else load_game(name) for name in known or [game.name]]
    fitting = [
        setting
        for candidate in candidates
        for rounds in ((1, ROUNDS) if isinstance(candidate, MatrixGame) else (1,))
        if program.fits(setting := Setting(candidate, Repetition(rounds)))
    ]
    if not fitting:
        raise UsageError(
            f"plays {', '.join(program.plays)}, and {game.name} is not that: name a game with --game"
        )
    return fitting


def check(entrants: Entrants, game: str, say: Say, limits: Limits) -> list[Report]:
    """Play each program against `PROBES` and itself, in every seat, and return its faults.

    The reports are in the order of the programs, followed by those of the duplicates.
    """
    default = load_game(game)

    reports: dict[str, Report] = {}
    settings: dict[Program, list[Setting]] = {}
    for program in entrants.programs:
        try:
            settings[program] = settings_for(program, default)
        except UsageError as error:
            reports[program.digest] = Report(program, problem=str(error))

    async def check_all() -> None:
        games = {each.game.name: each.game for fitting in settings.values() for each in fitting}
        async with workers(await image_ready(say), 1, limits, [*games.values()]) as pool:
            for program, fitting in settings.items():
                reports[program.digest] = await _check(program, fitting, limits, pool)

    if settings:
        with ungrouped():
            anyio.run(check_all)
    ordered = [reports[program.digest] for program in entrants.programs]
    return ordered + [
        replace(reports[duplicate.digest], program=duplicate)
        for duplicate, _ in entrants.duplicates
    ]


async def _check(
    program: Program, settings: Sequence[Setting], limits: Limits, pool: Pool
) -> Report:
    """Check one program. Of faults with the same kind and message, only the first is reported."""
    findings: dict[tuple[str, str], Finding] = {}
    played: list[Outcome] = []
    try:
        for setting in settings:
            contest, fixtures = _work(program, setting, limits)
            outcomes = await played_strictly(contest, fixtures, pool)
            for fault in _own_faults(program, outcomes):
                findings.setdefault((fault.kind, fault.message), _finding(setting, fault))
            played += outcomes
    except WorkerLost as error:
        return Report(program, problem=str(error))
    return Report(program, len(played), _fuel(program, played), tuple(findings.values()))


def _work(program: Program, setting: Setting, limits: Limits) -> tuple[Contest, list[Fixture]]:
    """Return the contest and the fixtures to check the program with."""
    seats = setting.game.seats
    mine = program.digest
    fixtures = [
        Fixture(tuple(mine if seat == own else probe.digest for seat in range(seats)), 0)
        for probe in PROBES
        for own in range(seats)
    ]
    fixtures.append(Fixture((mine,) * seats, 0))
    programs = {each.digest: each for each in (program, *PROBES)}
    return Contest(setting, 0, programs, limits), fixtures


def _own_faults(program: Program, outcomes: Sequence[Outcome]) -> list[Fault]:
    return [
        fault
        for outcome in outcomes
        for fault in outcome.faults
        if outcome.fixture.lineup[fault.seat] == program.digest
    ]


def _finding(setting: Setting, fault: Fault) -> Finding:
    [times] = setting.kinds & {"one-shot", "repeated", "episodic"}
    play = f"{ROUNDS} rounds" if times == "repeated" else times
    return Finding(setting.game.name, play, fault)


def _fuel(program: Program, outcomes: Sequence[Outcome]) -> int:
    """The highest average fuel per move that the program used in a seat of a match."""
    return max(
        (
            fuel // max(1, len(outcome.moves[seat]))
            for outcome in outcomes
            for seat, fuel in enumerate(outcome.fuel)
            if outcome.fixture.lineup[seat] == program.digest
        ),
        default=0,
    )
