"""Evaluates a profile of programs: runs unit tests first, then estimates payoffs from rollouts.

A rollout is a set of matches that are played only to learn how good a profile is.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

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

MOST_PROFILES = 64
"""How many profiles are played at the same time. The number is limited because each program takes an instance."""
MOST_CACHED = 20_000
"""How many entries a cache has. When there are more, the cache is emptied before new ones are added."""
MOST_WAITING = 4
"""How many lists of outcomes may wait to be received before the workers have to wait."""

Round = tuple[Joint, Payoffs, Observation | None]
"""The joint move, the payoffs by seat, and the observation of one seat (None in a matrix game)."""

Matches = tuple[Fixture, ...]
"""The matches of one profile in a rollout: repetitions of its lineup."""


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
        sums = (sum(p or 0 for p in outcome.payoffs) for outcome in self.outcomes)
        return None if self.payoffs is None else tuple(sums)


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


@dataclass(eq=False)
class Evaluator:
    """Plays profiles in a worker pool. The same profile with the same seed always gives the same result."""

    pool: Pool
    setting: Setting
    seed: int
    limits: Limits = Limits()
    _evaluations: dict[Matches, Evaluation] = field(default_factory=dict, init=False)
    _tests: dict[tuple[Fixture, int], tuple[Fault, ...]] = field(default_factory=dict, init=False)

    async def feedback(self, profile: Profile, seat: int, episodes: int) -> Feedback:
        """Run the unit tests of a seat's program, then play `episodes` matches of its profile if it passes them."""
        key = (Fixture(lineup(profile), 0), seat)
        faults = self._tests.get(key)
        if faults is None:
            faults = await self._test(profile, seat)
            _add(self._tests, {key: faults})
        if faults:
            return Feedback(faults, None)
        [evaluation] = await self.rollouts([profile], episodes)
        return Feedback(_different(evaluation.faults), evaluation)

    async def rollouts(
        self, profiles: Sequence[Profile], episodes: int, first: int = 0
    ) -> list[Evaluation]:
        """Play `episodes` repetitions of every profile, from number `first` on; return an evaluation of each."""
        numbers = range(first, first + episodes)
        keys = [tuple(Fixture(lineup(each), number) for number in numbers) for each in profiles]
        found = {key: self._evaluations[key] for key in keys if key in self._evaluations}
        new = [(key, p) for key, p in zip(keys, profiles, strict=True) if key not in found]
        for start in range(0, len(new), MOST_PROFILES):
            found |= await self._evaluate(dict(new[start : start + MOST_PROFILES]))
        _add(self._evaluations, found)
        return [replace(found[key], profile=p) for key, p in zip(keys, profiles, strict=True)]

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

    async def _test(self, profile: Profile, seat: int) -> tuple[Fault, ...]:
        """Return the faults of a seat's program in test matches, each fault once.

        The program plays the others of its profile, the probes, and copies of itself if all seats have the same moves.
        Every match is played in a batch and again alone, and a program that then plays differently is at fault too. If
        a match with the others of its profile loses its worker, it is unknown which of the programs is at fault.
        """
        program = profile[seat]
        own = [with_program((probe,) * len(profile), seat, program) for probe in PROBES]
        if len(set(self.setting.game.moves)) == 1:
            own.append((program,) * len(profile))
        tests = {Fixture(lineup(each), 0): each for each in (profile, *own)}
        outcomes = await self._play(tests.values(), list(tests), strict=True)
        played = [outcomes[fixture] for fixture in tests if fixture in outcomes]
        faults = [fault for outcome in played for fault in outcome.faults if fault.seat == seat]
        if any(Fixture(lineup(each), 0) not in outcomes for each in own):
            faults.append(Fault(seat, "lost", 0, "took its worker process down, every time"))
        if any(program.digest in outcome.leaky for outcome in played):
            faults.append(Fault(seat, "leaky", 0, "plays differently when it is played again"))
        return _different(faults)

    async def _evaluate(self, profiles: dict[Matches, Profile]) -> dict[Matches, Evaluation]:
        """Play the matches of all profiles at once and return the evaluation of each profile."""
        outcomes = await self._play(profiles.values(), list(itertools.chain(*profiles)))
        played = {key: tuple(outcomes[f] for f in key if f in outcomes) for key in profiles}
        return {
            key: Evaluation(profile, played[key], len(played[key]) < len(key))
            for key, profile in profiles.items()
        }

    async def _play(
        self, profiles: Iterable[Profile], fixtures: Sequence[Fixture], *, strict: bool = False
    ) -> dict[Fixture, Outcome]:
        """Play the fixtures and return their outcomes by fixture; those that could not be played are missing."""
        programs = {program.digest: program for profile in profiles for program in profile}
        contest = Contest(self.setting, self.seed, programs, self.limits, strict)
        outcomes: dict[Fixture, Outcome] = {}
        send, receive = create_memory_object_stream[Results](MOST_WAITING)
        async with create_task_group() as group, receive:
            plan = planned(contest, fixtures, self.pool.count)
            group.start_soon(play_all, contest, plan, self.pool, send)
            async for results in receive:
                outcomes |= {outcome.fixture: outcome for outcome in results.outcomes}
        return outcomes


def _add(cache: dict[Any, Any], new: dict[Any, Any]) -> None:
    """Add entries to a cache, which is emptied before if it is full."""
    if len(cache) > MOST_CACHED:
        cache.clear()
    cache |= new


def _different(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return one fault for each combination of seat, kind and message."""
    return tuple({(f.seat, f.kind, f.message): f for f in faults}.values())


def with_program(profile: Profile, seat: int, program: Program) -> Profile:
    """Return the profile with `program` in the given seat."""
    return (*profile[:seat], program, *profile[seat + 1 :])


def lineup(profile: Profile) -> tuple[str, ...]:
    """Return the digests of the programs by seat. They identify the profile, whatever names the programs have."""
    return tuple(program.digest for program in profile)
