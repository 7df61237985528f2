"""Does a bot load, obey and finish? Its unit tests, in the sandbox."""

from collections.abc import Sequence
from dataclasses import dataclass

from tournament.engine.run import Contest
from tournament.errors import NotFound
from tournament.game import Repetition, Setting
from tournament.library import games, load_game
from tournament.match import Fault, Fixture, Outcome
from tournament.program import KINDS, Program
from tournament.sandbox.image import Say
from tournament.sandbox.limits import Limits
from tournament.single import play_each_strictly

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
    """What checking a program found. `fuel` is the most that a call took on average in a match."""

    program: Program
    matches: int
    fuel: int
    findings: tuple[Finding, ...]


def settings_for(program: Program, game: str) -> list[Setting]:
    """What to check the program in: the games its header names, or else the game given; once and repeated."""
    named = [word for word in program.plays if word not in KINDS]
    known = [name for name in named if name in games()]
    if named and not known:
        raise NotFound("game", named[0], games())
    candidates = [
        Setting(load_game(name), Repetition(rounds=rounds))
        for name in known or [game]
        for rounds in (1, ROUNDS)
    ]
    return [setting for setting in candidates if program.fits(setting)]


def check(program: Program, game: str, say: Say, limits: Limits = Limits()) -> Report:
    """Play the program against probes and itself, in every seat, and collect its faults."""
    settings = settings_for(program, game)
    work = [_work(program, setting, limits) for setting in settings]
    results = play_each_strictly(work, say) if work else []
    findings: dict[tuple[str, str], Finding] = {}
    for setting, outcomes in zip(settings, results, strict=True):
        for fault in _own_faults(program, outcomes):
            finding = _finding(setting, fault)
            findings.setdefault((fault.kind, fault.message), finding)
    played = [outcome for outcomes in results for outcome in outcomes]
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
