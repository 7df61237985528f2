"""What a profile of programs is worth: unit tests first, then utility from rollouts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tournament.engine.batch import match_tape
from tournament.engine.run import Contest, play_batch
from tournament.game import Observation, Setting, StateGame, index
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.seeds import Tape

Profile = tuple[Program, ...]
"""A program for every seat."""

PROBES = (
    Program("first", "def act(view):\n    return view.legal[0]\n"),
    Program("last", "def act(view):\n    return view.legal[-1]\n"),
    Program("mixed", "def act(view):\n    return view.rng.choice(view.legal)\n"),
)
"""Whom a program's unit tests set it against, beside itself and those it is to answer."""


@dataclass(frozen=True)
class Evaluation:
    """Rollouts of a profile: as many outcomes as episodes."""

    profile: Profile
    outcomes: tuple[Outcome, ...]

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Every rule that was broken."""
        return tuple(fault for outcome in self.outcomes for fault in outcome.faults)

    @cached_property
    def payoffs(self) -> tuple[float, ...] | None:
        """Mean payoffs by seat; None where a rule was broken, for then there is no such thing."""
        if self.faults or not self.outcomes:
            return None
        paid = [[p for p in outcome.payoffs if p is not None] for outcome in self.outcomes]
        return tuple(sum(seat) / len(paid) for seat in zip(*paid, strict=True))

    @property
    def welfare(self) -> float | None:
        """Mean total of all seats' payoffs."""
        return None if self.payoffs is None else sum(self.payoffs)


@dataclass(frozen=True)
class Evaluator:
    """Plays profiles in a pool of workers; the same profile with the same seed always comes to the same."""

    pool: Pool
    setting: Setting
    seed: int
    limits: Limits = Limits()

    async def rollouts(self, profiles: Sequence[Profile], episodes: int) -> list[Evaluation]:
        """Every profile played that many times, in one batch."""
        programs = {program.digest: program for profile in profiles for program in profile}
        lineups = list(dict.fromkeys(tuple(p.digest for p in profile) for profile in profiles))
        fixtures = [Fixture(lineup, r) for lineup in lineups for r in range(episodes)]
        contest = Contest(self.setting, self.seed, programs, self.limits)
        batch = contest.batch(fixtures, ())
        by_lineup: dict[tuple[str, ...], list[Outcome]] = {lineup: [] for lineup in lineups}
        for outcome in await play_batch(contest, batch, fixtures, self.pool):
            by_lineup[outcome.fixture.lineup].append(outcome)
        return [
            Evaluation(profile, tuple(by_lineup[tuple(p.digest for p in profile)]))
            for profile in profiles
        ]

    def states(self, outcome: Outcome) -> list[Observation]:
        """What seat 0 observed before every round of a match of a game with a state."""
        game, fixture = self.setting.game, outcome.fixture
        assert isinstance(game, StateGame)
        tape = match_tape(self.seed, self.setting.key, fixture, "chance")
        joints = [tuple(map(index, joint)) for joint in zip(*outcome.moves, strict=True)]
        return [game.observe(state, 0) for state, _ in game.episode(Tape(tape), joints)]

    async def tests(self, profile: Profile, seat: int) -> list[Fault]:
        """The faults that a seat's program makes against those it is to answer, probes, and itself.

        Every match is replayed alone: a program that does not repeat itself is at fault too.
        """
        program = profile[seat]
        lineups = [profile, *(_seated(program, seat, probe, profile) for probe in PROBES)]
        lineups.append((program,) * len(profile))
        programs = {each.digest: each for lineup in lineups for each in lineup}
        fixtures = [Fixture(tuple(p.digest for p in lineup), 0) for lineup in lineups]
        fixtures = list(dict.fromkeys(fixtures))
        contest = Contest(self.setting, self.seed, programs, self.limits, strict=True)
        batch = contest.batch(fixtures, ())
        results = await play_batch(contest, batch, fixtures, self.pool)
        faults = [
            fault
            for outcome in results
            for fault in outcome.faults
            if outcome.fixture.lineup[fault.seat] == program.digest
        ]
        if any(program.digest in outcome.leaky for outcome in results):
            faults.append(Fault(seat, "leaky", 0, "plays differently when it is played again"))
        return list({(f.kind, f.message): f for f in faults}.values())


def _seated(program: Program, seat: int, other: Program, profile: Profile) -> Profile:
    return tuple(program if place == seat else other for place in range(len(profile)))
