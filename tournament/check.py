"""Does a bot load, obey and finish? Its unit tests, in the sandbox."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from tournament.engine.run import Contest, workers
from tournament.errors import NotFound, TournamentError, UsageError, ungrouped
from tournament.game import MatrixGame, Repetition, Setting
from tournament.library import Entrants, games, load_game
from tournament.match import Fault, Fixture, Outcome
from tournament.program import KINDS, Program
from tournament.sandbox.image import Say
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready
from tournament.single import played_strictly

ROUNDS = 20
PROBES = (
    Program("first", "def act(view):\n    return view.legal[0]\n"),
    Program("last", "def act(view):\n    return view.legal[-1]\n"),
    Program("mixed", "def act(view):\n    return view.rng.choice(view.legal)\n"),
)
"""What a bot is checked against, beside itself: enough to bring about every kind of round."""


@dataclass(frozen=True)
class Finding:
    """What was wrong: in which game and kind of play, and the fault."""

    game: str
    play: str
    fault: Fault


@dataclass(frozen=True)
class Report:
    """What checking a program found: faults, or a `problem` for which it could not be checked.

    `fuel` is the most that a call took on average in a match.
    """

    program: Program
    matches: int = 0
    fuel: int = 0
    findings: tuple[Finding, ...] = ()
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings and not self.problem


def settings_for(program: Program, game: MatrixGame) -> list[Setting]:
    """What to check the program in: the games its header names, or else the game given; once and repeated.

    Raises `UsageError` if there is none of them.
    """
    named = [word for word in program.plays if word not in KINDS]
    known = [name for name in named if name == game.name or name in games()]
    if named and not known:
        raise NotFound("game", named[0], games())
    candidates = [
        Setting(game if name == game.name else load_game(name), Repetition(rounds=rounds))
        for name in known or [game.name]
        for rounds in (1, ROUNDS)
    ]
    fitting = [setting for setting in candidates if program.fits(setting)]
    if not fitting:
        raise UsageError(
            f"plays {', '.join(program.plays)}, and {game.name} is not that: name a game with --game"
        )
    return fitting


def check(entrants: Entrants, game: str, say: Say, limits: Limits) -> list[Report]:
    """Play each program against probes and itself, in every seat, and collect its faults."""
    default = load_game(game)

    async def check_all() -> list[Report]:
        async with workers(await image_ready(say), 1, limits) as pool:
            return [await _check(program, default, limits, pool) for program in entrants.programs]

    if not entrants.programs:
        return []
    with ungrouped():
        reports = {report.program.digest: report for report in anyio.run(check_all)}
    twins = (replace(reports[twin.digest], program=twin) for twin, _ in entrants.twins)
    return [*reports.values(), *twins]


async def _check(program: Program, game: MatrixGame, limits: Limits, pool: Pool) -> Report:
    findings: dict[tuple[str, str], Finding] = {}
    played: list[Outcome] = []
    try:
        for setting in settings_for(program, game):
            contest, fixtures = _work(program, setting, limits)
            outcomes = await played_strictly(contest, fixtures, pool)
            for fault in _own_faults(program, outcomes):
                findings.setdefault((fault.kind, fault.message), _finding(setting, fault))
            played += outcomes
    except TournamentError as error:
        return Report(program, problem=str(error))
    return Report(program, len(played), _fuel(program, played), tuple(findings.values()))


def _work(program: Program, setting: Setting, limits: Limits) -> tuple[Contest, list[Fixture]]:
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
    play = "one-shot" if setting.repetition.one_shot else f"{ROUNDS} rounds"
    return Finding(setting.game.name, play, fault)


def _fuel(program: Program, outcomes: Sequence[Outcome]) -> int:
    return max(
        (
            fuel // max(1, len(outcome.moves[seat]))
            for outcome in outcomes
            for seat, fuel in enumerate(outcome.fuel)
            if outcome.fixture.lineup[seat] == program.digest
        ),
        default=0,
    )
