"""Plays many fixtures at once: sends batches to the workers and turns their answers into outcomes.

This module does not depend on a record, a terminal or a language model. The outcomes arrive in no fixed order, and
their content does not depend on that order.
"""

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from tournament.engine.batch import SEAT, Batch, Played, make_batch
from tournament.engine.schedule import batches, players_to_check
from tournament.engine.scoring import outcomes, reads_of
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
"""How often a batch is tried if its worker is lost each time. After that it is halved; a single match is given up."""
SILENCE_SECONDS = 60.0
"""How long a worker may be silent before it counts as lost; longer in proportion if the fuel limit is raised."""


@dataclass
class Contest:
    """What is to be played, and how: everything that an outcome depends on, and nothing else.

    `leaky` has the digests of programs known to play differently in a batch than alone; playing adds to it.
    """

    setting: Setting
    seed: int
    programs: dict[str, Program]
    """The programs by digest."""
    limits: Limits = Limits()
    strict: bool = False
    leaky: set[str] = field(default_factory=set)

    def batch(self, fixtures: Sequence[Fixture], sample: Sequence[int]) -> Batch:
        """Return the fixtures as a batch that checks the players in `sample`.

        It also checks all players of leaky programs, and every slot in strict play.
        """
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
        """Whether repetitions of the fixture's lineup may differ.

        Strict play always assumes so, because the texts of the programs allow only a guess.
        """
        repetition = self.setting.repetition
        hidden = repetition.continuation is not None
        drawn = repetition.noise > 0 or hidden or isinstance(self.setting.game, StateGame)
        mentions = any(self.programs[digest].may_draw for digest in fixture.lineup)
        return self.strict or drawn or mentions

    def may_turn(self, fixture: Fixture) -> bool:
        """Whether the programs may play the same match after each has moved on by the same number of seats."""
        game = self.setting.game
        asking = any(self.programs[digest].may_ask_its_seat for digest in fixture.lineup)
        return game.cells is not None and game.symmetric and not asking


@dataclass(frozen=True)
class Results:
    """Outcomes that arrived together. With `again`, they replace earlier outcomes of the same fixtures.

    `lost` has the fixtures that could not be played because their worker was lost every time.
    """

    outcomes: list[Outcome]
    again: bool = False
    lost: tuple[Fixture, ...] = ()


@asynccontextmanager
async def workers(
    image: Image, count: int, limits: Limits, games: Sequence[Game] = ()
) -> AsyncIterator[Pool]:
    """Open a pool of `count` worker processes that play batches of these games."""
    silence = SILENCE_SECONDS * max(1.0, limits.fuel / Limits().fuel)
    files = [game.file for game in games if isinstance(game, StateGame)]
    async with open_pool(MODULE, [str(image.compiled), *files], count, silence) as pool:
        yield pool


async def play_batch(
    contest: Contest, batch: Batch, fixtures: Sequence[Fixture], pool: Pool
) -> list[Outcome]:
    """Play one batch and return its outcomes in the order of its fixtures. Raises `WorkerLost`."""
    played = await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))
    return outcomes(contest.setting, batch, fixtures, played)


@dataclass(frozen=True)
class Plan:
    """Fixtures to be played, in `batches`, each with the players to be checked.

    Repetitions of a lineup that seems to use no randomness are not played one by one. Only the first is played and
    stands for all of them, also for those with the seats turned if these seem to play the same. `rest` has for each
    such fixture the ones that it stands for.
    """

    batches: list[tuple[list[Fixture], list[int]]]
    rest: dict[Fixture, list[Fixture]]


def planned(contest: Contest, fixtures: Sequence[Fixture], worker_count: int) -> Plan:
    """Return the plan for playing the fixtures with so many workers."""
    first, rest = _stand_ins(contest, fixtures)
    return Plan(_batches(contest, first, worker_count), rest)


def _batches(
    contest: Contest, fixtures: Sequence[Fixture], worker_count: int
) -> list[tuple[list[Fixture], list[int]]]:
    plan = batches(contest.setting, fixtures, worker_count, contest.may_simulate)
    return list(zip(plan, players_to_check(plan, contest.seed), strict=True))


async def play_all(
    contest: Contest, plan: Plan, pool: Pool, results: MemoryObjectSendStream[Results]
) -> None:
    """Play what is planned and send the results, then close the stream.

    If a program turns out to have read a tape or its seat, the fixtures that its match should have stood for are played
    as well. Matches played unchecked before one of their programs was known to be leaky are played again. The stream is
    bounded: while the receiver takes nothing, the workers wait.
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
    """Return the fixtures to be played, and for those that may stand for others, the fixtures they stand for."""
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
    """Return a form of the lineup that is the same for all lineups that seem to play the same match."""
    lineup = fixture.lineup
    if not contest.may_turn(fixture):
        return lineup
    return min(turned(lineup, turn) for turn in range(len(lineup)))


class Play:
    """Sends batches through the pool. `unlike` has the fixtures that another one could not stand for after all."""

    def __init__(
        self, contest: Contest, pool: Pool, results: MemoryObjectSendStream[Results]
    ) -> None:
        self.contest = contest
        self.pool = pool
        self.results = results
        self.unlike: list[Fixture] = []
        self._unchecked: list[Fixture] = []

    def suspect(self) -> list[Fixture]:
        """Return the fixtures that were played unchecked before one of their programs was known to be leaky."""
        return [f for f in self._unchecked if self.contest.leaky.intersection(f.lineup)]

    async def play(self, plan: Plan, *, again: bool = False) -> None:
        """Play what is planned and send all outcomes, also those of fixtures that others stand for."""
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
        """Play batches from the stream `work` one after the other until none is left, and send their results."""
        async with work:
            async for fixtures, sample in work:
                known = frozenset(self.contest.leaky)
                played, lost = await self._outcomes(fixtures, sample)
                outcomes = [o for outcome in played for o in self._with_duplicates(*outcome, rest)]
                for outcome in outcomes:
                    self.contest.leaky.update(outcome.leaky)
                    if _may_leak(outcome, known):
                        self._unchecked.append(outcome.fixture)
                gone = [each for fixture in lost for each in (fixture, *rest.get(fixture, ()))]
                await self.results.send(Results(outcomes, again, tuple(gone)))

    def _with_duplicates(
        self, outcome: Outcome, reads: int, rest: dict[Fixture, list[Fixture]]
    ) -> list[Outcome]:
        """Return an outcome, and a copy for each fixture that it stands for.

        `reads` is what its programs have read (see `ANYTHING` in `batch.py`). Fixtures that may therefore play
        differently are added to `unlike` instead.
        """
        same = [outcome]
        by_lineup = {outcome.fixture.lineup: outcome}
        for duplicate in rest.get(outcome.fixture, ()):
            if reads & ~SEAT or (reads and duplicate.lineup != outcome.fixture.lineup):
                self.unlike.append(duplicate)
                continue
            if duplicate.lineup not in by_lineup:
                by_lineup[duplicate.lineup] = outcome.standing_for(duplicate)
            same.append(replace(by_lineup[duplicate.lineup], fixture=duplicate))
        return same

    async def _outcomes(
        self, fixtures: list[Fixture], sample: Sequence[int]
    ) -> tuple[list[tuple[Outcome, int]], list[Fixture]]:
        """Return outcomes, each with what its programs have read, and the fixtures whose worker was lost every time."""
        batch = self.contest.batch(fixtures, sample)
        for _ in range(TRIES):
            with suppress(WorkerLost):
                read = partial(Played.decoded, batch=batch)
                played = await self.pool.call(batch.encoded(), read)
                scored = outcomes(self.contest.setting, batch, fixtures, played)
                return list(zip(scored, reads_of(batch, played), strict=True)), []
        if len(fixtures) == 1:
            return [], fixtures
        half = math.ceil(len(fixtures) / 2)
        cut = half * batch.seats
        first = await self._outcomes(fixtures[:half], [s for s in sample if s < cut])
        second = await self._outcomes(fixtures[half:], [s - cut for s in sample if s >= cut])
        return first[0] + second[0], first[1] + second[1]


def _may_leak(outcome: Outcome, known: frozenset[str]) -> bool:
    """Whether the outcome has an unchecked seat, and a program that was not known to be leaky when it was played."""
    return not all(outcome.checked) and not known.issuperset(outcome.fixture.lineup)
