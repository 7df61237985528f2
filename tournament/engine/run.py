"""Plays many fixtures at once: batches go out to workers, lists of outcomes come back.

Nothing here knows of a record, a terminal or a model. Outcomes come in any order; what they are does not depend on it.
"""

import math
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from tournament.engine.batch import Batch, Played, make_batch
from tournament.engine.schedule import batches, slots_to_check
from tournament.engine.settle import outcomes
from tournament.engine.worker import MODULE
from tournament.errors import WorkerLost
from tournament.game import Setting
from tournament.match import Fixture, Outcome
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
        return make_batch(self.setting, self.seed, self.programs, fixtures, self.limits, checks)


@dataclass(frozen=True)
class Results:
    """Outcomes that came in together. With `again`, they take the place of those that came before.

    `lost` are fixtures that could not be played because their worker was lost every time.
    """

    outcomes: list[Outcome]
    again: bool = False
    lost: tuple[Fixture, ...] = ()


@asynccontextmanager
async def workers(image: Image, count: int, limits: Limits) -> AsyncIterator[Pool]:
    """A pool of `count` worker processes that play batches."""
    silence = SILENCE_SECONDS * max(1.0, limits.fuel / Limits().fuel)
    async with open_pool(MODULE, [str(image.compiled)], count, silence) as pool:
        yield pool


async def play_all(
    contest: Contest,
    fixtures: Sequence[Fixture],
    pool: Pool,
    results: MemoryObjectSendStream[Results],
) -> None:
    """Play the fixtures and send what comes of them, then close the stream.

    The stream is bounded: when nobody receives, workers wait.
    """
    async with results:
        suspect = await _play(contest, fixtures, pool, results, again=False)
        if suspect:
            await _play(contest, suspect, pool, results, again=True)


async def _play(
    contest: Contest,
    fixtures: Sequence[Fixture],
    pool: Pool,
    results: MemoryObjectSendStream[Results],
    again: bool,
) -> list[Fixture]:
    """Play the fixtures; return those that passed before one of their programs was known to leak."""
    plan = batches(contest.setting, fixtures, pool.count)
    samples = slots_to_check(plan, contest.seed)
    passed: list[Fixture] = []
    send, receive = anyio.create_memory_object_stream[tuple[list[Fixture], list[int]]](len(plan))
    for work in zip(plan, samples, strict=True):
        send.send_nowait(work)
    send.close()
    async with anyio.create_task_group() as group:
        for _ in range(pool.count):
            group.start_soon(_worker, contest, receive.clone(), pool, results, again, passed)
        receive.close()
    return [] if again else [f for f in passed if contest.leaky.intersection(f.lineup)]


async def _worker(
    contest: Contest,
    work: MemoryObjectReceiveStream[tuple[list[Fixture], list[int]]],
    pool: Pool,
    results: MemoryObjectSendStream[Results],
    again: bool,
    passed: list[Fixture],
) -> None:
    async with work:
        async for fixtures, sample in work:
            known = frozenset(contest.leaky)
            played, lost = await _outcomes(contest, fixtures, sample, pool)
            contest.leaky.update(digest for outcome in played for digest in outcome.leaky)
            passed += [o.fixture for o in played if _may_leak(o, known)]
            await results.send(Results(played, again, tuple(lost)))


def _may_leak(outcome: Outcome, known: Collection[str]) -> bool:
    """Whether the outcome has a seat unchecked whose program was not known to leak when it was played."""
    return not all(outcome.checked) and not known.issuperset(outcome.fixture.lineup)


async def _outcomes(
    contest: Contest, fixtures: list[Fixture], sample: Sequence[int], pool: Pool
) -> tuple[list[Outcome], list[Fixture]]:
    """The outcomes of the fixtures, and those fixtures that lost their worker every time."""
    batch = contest.batch(fixtures, sample)
    for _ in range(TRIES):
        try:
            played = Played.decoded(await pool.call(batch.encoded()))
            return outcomes(contest.setting, batch, fixtures, played), []
        except WorkerLost:
            continue
    if len(fixtures) == 1:
        return [], fixtures
    half = math.ceil(len(fixtures) / 2)
    first = await _outcomes(contest, fixtures[:half], (), pool)
    second = await _outcomes(contest, fixtures[half:], (), pool)
    return first[0] + second[0], first[1] + second[1]
