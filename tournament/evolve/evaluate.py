"""What a profile of programs is worth: unit tests first, then utility from rollouts."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from anyio import create_memory_object_stream, create_task_group

from tournament.check import PROBES
from tournament.engine.batch import match_tape
from tournament.engine.run import Contest, Results, planned, play_all
from tournament.game import Joint, MatrixGame, Observation, Payoffs, Setting, index
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.seeds import Tape

Profile = tuple[Program, ...]
"""A program for every seat."""

TOGETHER = 64
"""Profiles that are played at the same time: each of their programs takes an instance."""
MOST_KNOWN = 20_000
"""Rollouts that are remembered, so that what comes again is not played again."""
WAITING = 4

Round = tuple[Joint, Payoffs, Observation | None]

Key = tuple[tuple[str, ...], int, int]


@dataclass(frozen=True)
class Evaluation:
    """Rollouts of a profile. Where `lost`, some of them could not be played."""

    profile: Profile
    outcomes: tuple[Outcome, ...]
    lost: bool = False

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Every rule that was broken."""
        return tuple(fault for outcome in self.outcomes for fault in outcome.faults)

    @cached_property
    def payoffs(self) -> tuple[float, ...] | None:
        """Mean payoffs by seat; None where a rule was broken, for then there is no such thing."""
        if self.faults or self.lost or not self.outcomes:
            return None
        paid = [[p for p in outcome.payoffs if p is not None] for outcome in self.outcomes]
        return tuple(sum(seat) / len(paid) for seat in zip(*paid, strict=True))

    @property
    def welfare(self) -> float | None:
        """Mean total of all seats' payoffs."""
        return None if self.payoffs is None else sum(self.payoffs)

    @property
    def samples(self) -> tuple[float, ...] | None:
        """The total of all seats' payoffs, of each match."""
        if self.payoffs is None:
            return None
        return tuple(sum(p or 0 for p in outcome.payoffs) for outcome in self.outcomes)


@dataclass(frozen=True)
class Feedback:
    """What is known of a seat's program in a profile: faults, those of its unit tests first, and its rollouts.

    There are no rollouts of a program that has failed its tests.
    """

    faults: tuple[Fault, ...]
    evaluation: Evaluation | None

    @property
    def problem(self) -> str:
        """The name of what is wrong; nothing if the program runs."""
        if self.faults:
            return self.faults[0].kind
        return "" if self.evaluation and self.evaluation.payoffs else "lost"


class Evaluator:
    """Plays profiles in a pool of workers; the same profile with the same seed always comes to the same."""

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
        """What can be said of a seat's program: unit tests, and rollouts if it passes them."""
        if faults := await self.tests(profile, seat):
            return Feedback(faults, None)
        [evaluation] = await self.rollouts([profile], episodes)
        return Feedback(_different(evaluation.faults), evaluation)

    async def rollouts(
        self, profiles: Sequence[Profile], episodes: int, first: int = 0
    ) -> list[Evaluation]:
        """Every profile played that many times, from the repetition `first` on."""
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
        """The faults that a seat's program makes against those it is to answer, probes, and copies of itself.

        Every match is replayed alone: a program that does not repeat itself is at fault too.
        """
        key = (lineup(profile), seat)
        if key not in self._tested:
            self._tested[key] = _different(await self._faults(profile, seat))
        return self._tested[key]

    def rounds(self, outcome: Outcome, seat: int) -> Iterator[Round]:
        """A match round by round: the joint move, what it paid by seat, and what the seat had observed."""
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
        """The tape that a match's chance was drawn from."""
        return match_tape(self.seed, self.setting.key, outcome.fixture, "chance")

    async def _played(self, profiles: dict[Key, Profile]) -> dict[Key, Evaluation]:
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
        """What comes of the fixtures; those that could not be played are missing."""
        outcomes: dict[Fixture, Outcome] = {}
        send, receive = create_memory_object_stream[Results](WAITING)
        async with create_task_group() as group, receive:
            plan = planned(contest, fixtures, self.pool.count)
            group.start_soon(play_all, contest, plan, self.pool, send)
            async for results in receive:
                outcomes |= {outcome.fixture: outcome for outcome in results.outcomes}
        return {fixture: outcomes[fixture] for fixture in fixtures if fixture in outcomes}


def _different(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple({(f.seat, f.kind, f.message): f for f in faults}.values())


def with_program(profile: Profile, seat: int, program: Program) -> Profile:
    """The profile with another program in a seat."""
    return (*profile[:seat], program, *profile[seat + 1 :])


def lineup(profile: Profile) -> tuple[str, ...]:
    """The digests of the profile's programs: what makes it this profile, whatever they are called."""
    return tuple(program.digest for program in profile)


def _seated(program: Program, seat: int, other: Program, profile: Profile) -> Profile:
    return with_program((other,) * len(profile), seat, program)
