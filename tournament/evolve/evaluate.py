"""Evaluates a profile of programs: runs unit tests first, then estimates payoffs from rollouts.

A rollout is a set of matches that are played only to learn how good a profile is.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from anyio import create_memory_object_stream, create_task_group

from tournament.engine.batch import match_tape
from tournament.engine.run import Contest, Results, planned, play_all
from tournament.game import Joint, MatrixGame, Observation, Payoffs, Setting, index
from tournament.library import PROBES
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.seeds import Tape

Profile = tuple[Program, ...]
"""One program for every seat, in seat order."""

TOGETHER = 64
"""How many profiles are played at the same time. The number is limited because each program takes an instance."""
MOST_KNOWN = 20_000
"""How many evaluations are cached. When there are more, the cache is emptied before new ones are added."""
WAITING = 4
"""How many lists of outcomes may wait to be received before the workers have to wait."""

Round = tuple[Joint, Payoffs, Observation | None]
"""The joint move, the payoffs by seat, and the observation of one seat (None in a matrix game)."""

Key = tuple[tuple[str, ...], int, int]
"""A lineup, the number of matches it plays, and the first repetition."""


@dataclass(frozen=True)
class Evaluation:
    """The outcomes of the matches of a profile. With `lost`, some of its matches could not be played."""

    profile: Profile
    outcomes: tuple[Outcome, ...]
    lost: bool = False

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """All faults of all matches, of every seat."""
        return tuple(fault for outcome in self.outcomes for fault in outcome.faults)

    @cached_property
    def payoffs(self) -> tuple[float, ...] | None:
        """Mean payoffs by seat; None if a rule was broken or a match was not played: a mean would then mislead."""
        if self.faults or self.lost or not self.outcomes:
            return None
        paid = [[p for p in outcome.payoffs if p is not None] for outcome in self.outcomes]
        return tuple(sum(seat) / len(paid) for seat in zip(*paid, strict=True))

    @property
    def welfare(self) -> float | None:
        """The mean over the matches of the sum of all seats' payoffs; None where `payoffs` is None."""
        return None if self.payoffs is None else sum(self.payoffs)

    @property
    def samples(self) -> tuple[float, ...] | None:
        """The sum of all seats' payoffs in each match; None where `payoffs` is None."""
        if self.payoffs is None:
            return None
        return tuple(sum(p or 0 for p in outcome.payoffs) for outcome in self.outcomes)


@dataclass(frozen=True)
class Feedback:
    """What is known about the program of one seat in a profile.

    `faults` are those of its unit tests, or, if it passed them, those of its rollouts. `evaluation` holds the rollouts;
    it is None for a program that failed its tests.
    """

    faults: tuple[Fault, ...]
    evaluation: Evaluation | None

    @property
    def problem(self) -> str:
        """The kind of the first fault, or "lost" if there are no payoffs; an empty string if the program runs."""
        if self.faults:
            return self.faults[0].kind
        return "" if self.evaluation and self.evaluation.payoffs else "lost"


class Evaluator:
    """Plays profiles in a worker pool. The same profile with the same seed always gives the same result."""

    def __init__(
        self, pool: Pool, setting: Setting, seed: int, limits: Limits | None = None
    ) -> None:
        self.pool = pool
        self.setting = setting
        self.seed = seed
        self.limits = limits or Limits()
        self._known: dict[Key, Evaluation] = {}
        self._tested: dict[tuple[tuple[str, ...], int], tuple[Fault, ...]] = {}

    async def feedback(self, profile: Profile, seat: int, episodes: int) -> Feedback:
        """Run the unit tests of a seat's program, then play `episodes` matches of its profile if it passes them."""
        if faults := await self.tests(profile, seat):
            return Feedback(faults, None)
        [evaluation] = await self.rollouts([profile], episodes)
        return Feedback(_different(evaluation.faults), evaluation)

    async def rollouts(
        self, profiles: Sequence[Profile], episodes: int, first: int = 0
    ) -> list[Evaluation]:
        """Play `episodes` repetitions of every profile, from number `first` on; return an evaluation of each."""
        keys: list[Key] = [(lineup(profile), episodes, first) for profile in profiles]
        found = {key: self._known[key] for key in keys if key in self._known}
        new = {k: p for k, p in zip(keys, profiles, strict=True) if k not in found}
        for start in range(0, len(new), TOGETHER):
            found |= await self._played(dict(list(new.items())[start : start + TOGETHER]))
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        self._known |= found
        return [replace(found[key], profile=p) for key, p in zip(keys, profiles, strict=True)]

    async def tests(self, profile: Profile, seat: int) -> tuple[Fault, ...]:
        """Return the faults of a seat's program in test matches, each fault once.

        The program plays the others of its profile, the probes, and copies of itself if all seats have the same moves.
        Every match is played in a batch and again alone, and a program that then plays differently is at fault too.
        """
        key = (lineup(profile), seat)
        if key not in self._tested:
            self._tested[key] = _different(await self._faults(profile, seat))
        return self._tested[key]

    def rounds(self, outcome: Outcome, seat: int) -> Iterator[Round]:
        """Yield each round of a match: the joint move, the payoffs, and what the seat had observed."""
        game = self.setting.game
        joints = [tuple(map(index, joint)) for joint in zip(*outcome.moves, strict=True)]
        if isinstance(game, MatrixGame):
            return ((joint, game.payoff(joint), None) for joint in joints)
        states = itertools.pairwise(game.episode(Tape(self.chance(outcome)), joints))
        return (
            (joint, paid or (), game.observe(before, seat))
            for joint, ((before, _), (_, paid)) in zip(joints, states, strict=True)
        )

    def chance(self, outcome: Outcome) -> str:
        """Return the name of the tape from which the chance events of a match were drawn."""
        return match_tape(self.seed, self.setting.key, outcome.fixture, "chance")

    async def _played(self, profiles: dict[Key, Profile]) -> dict[Key, Evaluation]:
        """Play all profiles at once and return the evaluation of each."""
        fixtures = {
            key: [Fixture(key[0], first + r) for r in range(episodes)]
            for key in profiles
            for _, episodes, first in [key]
        }
        every = [fixture for each in fixtures.values() for fixture in each]
        outcomes = await self._play(self._contest(profiles.values()), every)
        played = {key: [outcomes[f] for f in fixtures[key] if f in outcomes] for key in profiles}
        return {
            key: Evaluation(profile, tuple(played[key]), len(played[key]) < len(fixtures[key]))
            for key, profile in profiles.items()
        }

    async def _faults(self, profile: Profile, seat: int) -> list[Fault]:
        """Play the matches that `tests` describes and return the faults of the seat's program."""
        program = profile[seat]
        tables = [profile, *(_seated(program, seat, probe, profile) for probe in PROBES)]
        if len(set(self.setting.game.moves)) == 1:
            tables.append((program,) * len(profile))
        fixtures = [Fixture(lineup(each), 0) for each in tables]
        contest = self._contest(tables, strict=True)
        outcomes = await self._play(contest, list(dict.fromkeys(fixtures)))
        own = [fault for o in outcomes.values() for fault in o.faults if fault.seat == seat]
        if len(outcomes) < len(set(fixtures)):
            own.append(Fault(seat, "lost", 0, "took its worker process down, every time"))
        if any(program.digest in outcome.leaky for outcome in outcomes.values()):
            own.append(Fault(seat, "leaky", 0, "plays differently when it is played again"))
        return own

    def _contest(self, profiles: Iterable[Profile], *, strict: bool = False) -> Contest:
        programs = {program.digest: program for profile in profiles for program in profile}
        return Contest(self.setting, self.seed, programs, self.limits, strict)

    async def _play(self, contest: Contest, fixtures: Sequence[Fixture]) -> dict[Fixture, Outcome]:
        """Play the fixtures and return their outcomes by fixture; those that could not be played are missing."""
        outcomes: dict[Fixture, Outcome] = {}
        send, receive = create_memory_object_stream[Results](WAITING)
        async with create_task_group() as group, receive:
            plan = planned(contest, fixtures, self.pool.count)
            group.start_soon(play_all, contest, plan, self.pool, send)
            async for results in receive:
                outcomes |= {outcome.fixture: outcome for outcome in results.outcomes}
        return {fixture: outcomes[fixture] for fixture in fixtures if fixture in outcomes}


def _different(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return one fault for each combination of seat, kind and message."""
    return tuple({(f.seat, f.kind, f.message): f for f in faults}.values())


def with_program(profile: Profile, seat: int, program: Program) -> Profile:
    """Return the profile with `program` in the given seat."""
    return (*profile[:seat], program, *profile[seat + 1 :])


def lineup(profile: Profile) -> tuple[str, ...]:
    """Return the digests of the programs by seat. They identify the profile, whatever names the programs have."""
    return tuple(program.digest for program in profile)


def _seated(program: Program, seat: int, other: Program, profile: Profile) -> Profile:
    """Return a profile with `program` in the seat and `other` in all other seats."""
    return with_program((other,) * len(profile), seat, program)
