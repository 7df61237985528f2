"""Plays many fixtures at once: batches go out to workers, lists of outcomes come back.

Nothing here knows of a record, a terminal or a model. Outcomes come in any order; what they are does not depend on it.
"""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from tournament.engine.batch import SEAT, Batch, Played, make_batch
from tournament.engine.schedule import batches, slots_to_check
from tournament.engine.settle import looked_at, outcomes
from tournament.engine.worker import MODULE
from tournament.errors import WorkerLost
from tournament.game import Game, Setting, StateGame
from tournament.library import packaged_sources
from tournament.match import Fixture, Outcome, turned
from tournament.program import Program
from tournament.sandbox.image import Image
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool, open_pool

TRIES = 3
"""How often a batch is played again whose worker was lost, before it is halved, or given up as a single match."""
SILENCE_SECONDS = 60.0


@dataclass
class Contest:
    """What is to be played, and how: everything an outcome depends on, and nothing else.

    `leaky` are digests of programs known to leak between their matches; play adds to it.
    """

    setting: Setting
    seed: int
    programs: dict[str, Program]
    """By digest."""
    limits: Limits = Limits()
    strict: bool = False
    leaky: set[str] = field(default_factory=set)

    def batch(self, fixtures: Sequence[Fixture], sample: Sequence[int]) -> Batch:
        """The fixtures as a batch, to be checked at the sample and wherever else it is needed."""
        seats = self.setting.game.seats
        everywhere = [
            match * seats + seat
            for match, fixture in enumerate(fixtures)
            for seat, digest in enumerate(fixture.lineup)
            if self.strict or digest in self.leaky
        ]
        checks = sorted({*sample, *everywhere})
        proving = any("proves" in program.source for program in self.programs.values())
        return make_batch(
            self.setting,
            self.seed,
            self.programs,
            fixtures,
            self.limits,
            packaged_sources() if proving else {},
            checks,
        )

    def may_simulate(self, fixture: Fixture) -> bool:
        """Whether a program of the fixture's lineup may simulate others."""
        return any(self.programs[digest].may_simulate for digest in fixture.lineup)

    def may_draw(self, fixture: Fixture) -> bool:
        """Whether repetitions of the fixture's lineup may differ: in strict play nobody's word is taken for it."""
        repetition = self.setting.repetition
        hidden = repetition.continuation is not None
        drawn = repetition.noise > 0 or hidden or isinstance(self.setting.game, StateGame)
        mentions = any(self.programs[digest].may_draw for digest in fixture.lineup)
        return self.strict or drawn or mentions

    def may_turn(self, fixture: Fixture) -> bool:
        """Whether the lineup may play the same when its programs move round the table."""
        game = self.setting.game
        asking = any(self.programs[digest].may_ask_its_seat for digest in fixture.lineup)
        return game.cells is not None and game.symmetric and not asking


@dataclass(frozen=True)
class Results:
    """Outcomes that came in together. With `again`, they take the place of those that came before.

    `lost` are fixtures that could not be played because their worker was lost every time.
    """

    outcomes: list[Outcome]
    again: bool = False
    lost: tuple[Fixture, ...] = ()


@asynccontextmanager
async def workers(
    image: Image, count: int, limits: Limits, games: Sequence[Game] = ()
) -> AsyncIterator[Pool]:
    """A pool of `count` worker processes that play batches of these games."""
    silence = SILENCE_SECONDS * max(1.0, limits.fuel / Limits().fuel)
    files = [game.file for game in games if isinstance(game, StateGame)]
    async with open_pool(MODULE, [str(image.compiled), *files], count, silence) as pool:
        yield pool


async def play_batch(
    contest: Contest, batch: Batch, fixtures: Sequence[Fixture], pool: Pool
) -> list[Outcome]:
    """The outcomes of one batch, in the order of its fixtures. Raises `WorkerLost`."""
    played = await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))
    return outcomes(contest.setting, batch, fixtures, played)


@dataclass(frozen=True)
class Plan:
    """Fixtures to be played: `batches`, each with the slots to be checked, and the `rest` that some of them stand for.

    Repetitions of a lineup that seems to draw nothing are not played one by one: the first stands for all, and for
    those with the seats turned too.
    """

    batches: list[tuple[list[Fixture], list[int]]]
    rest: dict[Fixture, list[Fixture]]


def planned(contest: Contest, fixtures: Sequence[Fixture], worker_count: int) -> Plan:
    """How to play the fixtures with so many workers."""
    first, rest = _stand_ins(contest, fixtures)
    return Plan(_batches(contest, first, worker_count), rest)


def _batches(
    contest: Contest, fixtures: Sequence[Fixture], worker_count: int
) -> list[tuple[list[Fixture], list[int]]]:
    plan = batches(contest.setting, fixtures, worker_count, contest.may_simulate)
    return list(zip(plan, slots_to_check(plan, contest.seed), strict=True))


async def play_all(
    contest: Contest, plan: Plan, pool: Pool, results: MemoryObjectSendStream[Results]
) -> None:
    """Play what is planned and send what comes of it, then close the stream.

    If a tape, or a seat, was looked at after all where a fixture was to stand for others, these follow. What was played
    before a program was known to leak is played again. The stream is bounded: when nobody receives, workers wait.
    """
    async with results:
        play = Play(contest, pool, results)
        await play.play(plan)
        await play.play(Plan(_batches(contest, play.unlike, pool.count), {}))
        if suspect := play.suspect():
            await play.play(Plan(_batches(contest, suspect, pool.count), {}), again=True)


def _stand_ins(
    contest: Contest, fixtures: Sequence[Fixture]
) -> tuple[list[Fixture], dict[Fixture, list[Fixture]]]:
    """Fixtures to be played, and for those that stand for other repetitions of their lineup, these."""
    first: dict[tuple[str, ...], Fixture] = {}
    rest: dict[Fixture, list[Fixture]] = {}
    playing = []
    for fixture in fixtures:
        alike = _alike(contest, fixture)
        stand_in = first.get(alike)
        if stand_in is not None:
            rest[stand_in].append(fixture)
            continue
        playing.append(fixture)
        if not contest.may_draw(fixture):
            first[alike] = fixture
            rest[fixture] = []
    return playing, rest


def _alike(contest: Contest, fixture: Fixture) -> tuple[str, ...]:
    """The lineup, in the form that it shares with all that seem to play the same."""
    lineup = fixture.lineup
    if not contest.may_turn(fixture):
        return lineup
    return min(turned(lineup, turn) for turn in range(len(lineup)))


class Play:
    """Fixtures on their way through the pool. `unlike` are those that a stand-in could not stand for after all."""

    def __init__(
        self, contest: Contest, pool: Pool, results: MemoryObjectSendStream[Results]
    ) -> None:
        self.contest = contest
        self.pool = pool
        self.results = results
        self.unlike: list[Fixture] = []
        self._unchecked: list[Fixture] = []

    def suspect(self) -> list[Fixture]:
        """Fixtures that were played unchecked before one of their programs was known to leak."""
        return [f for f in self._unchecked if self.contest.leaky.intersection(f.lineup)]

    async def play(self, plan: Plan, *, again: bool = False) -> None:
        """Play what is planned and send the outcomes, with those of the fixtures that others stand for."""
        send, receive = anyio.create_memory_object_stream[tuple[list[Fixture], list[int]]](
            len(plan.batches)
        )
        for work in plan.batches:
            send.send_nowait(work)
        send.close()
        async with anyio.create_task_group() as group, receive:
            for _ in range(self.pool.count):
                group.start_soon(self._worker, receive.clone(), plan.rest, again)

    async def _worker(
        self,
        work: MemoryObjectReceiveStream[tuple[list[Fixture], list[int]]],
        rest: dict[Fixture, list[Fixture]],
        again: bool,
    ) -> None:
        async with work:
            async for fixtures, sample in work:
                known = frozenset(self.contest.leaky)
                played, lost = await self._outcomes(fixtures, sample)
                outcomes = [o for outcome in played for o in self._with_twins(*outcome, rest)]
                for outcome in outcomes:
                    self.contest.leaky.update(outcome.leaky)
                    if _may_leak(outcome, known):
                        self._unchecked.append(outcome.fixture)
                gone = [each for fixture in lost for each in (fixture, *rest.get(fixture, ()))]
                await self.results.send(Results(outcomes, again, tuple(gone)))

    def _with_twins(
        self, outcome: Outcome, looked: int, rest: dict[Fixture, list[Fixture]]
    ) -> list[Outcome]:
        """An outcome, and the same for the repetitions that it stands for; `looked` is at what its programs looked."""
        same = [outcome]
        by_lineup = {outcome.fixture.lineup: outcome}
        for twin in rest.get(outcome.fixture, ()):
            if looked & ~SEAT or (looked and twin.lineup != outcome.fixture.lineup):
                self.unlike.append(twin)
                continue
            if twin.lineup not in by_lineup:
                by_lineup[twin.lineup] = outcome.standing_for(twin)
            same.append(replace(by_lineup[twin.lineup], fixture=twin))
        return same

    async def _outcomes(
        self, fixtures: list[Fixture], sample: Sequence[int]
    ) -> tuple[list[tuple[Outcome, int]], list[Fixture]]:
        """Outcomes, each with what its programs looked at; and the fixtures that lost their worker every time."""
        batch = self.contest.batch(fixtures, sample)
        for _ in range(TRIES):
            with suppress(WorkerLost):
                read = partial(Played.decoded, batch=batch)
                played = await self.pool.call(batch.encoded(), read)
                settled = outcomes(self.contest.setting, batch, fixtures, played)
                return list(zip(settled, looked_at(batch, played), strict=True)), []
        if len(fixtures) == 1:
            return [], fixtures
        half = math.ceil(len(fixtures) / 2)
        cut = half * batch.seats
        first = await self._outcomes(fixtures[:half], [s for s in sample if s < cut])
        second = await self._outcomes(fixtures[half:], [s - cut for s in sample if s >= cut])
        return first[0] + second[0], first[1] + second[1]


def _may_leak(outcome: Outcome, known: frozenset[str]) -> bool:
    """Whether the outcome has a seat unchecked whose program was not known to leak when it was played."""
    return not all(outcome.checked) and not known.issuperset(outcome.fixture.lineup)
