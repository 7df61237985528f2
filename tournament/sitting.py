"""One sitting of a run: plays what the record lacks, and records it as it comes in.

This is where the engine and the record meet. A sitting that is stopped, or killed, leaves a record that the next one
goes on from.
"""

import platform
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
from anyio import CancelScope, to_thread
from anyio.abc import TaskStatus

from tournament import __version__
from tournament.engine.run import Contest, Results, play_all, workers
from tournament.engine.schedule import round_robin
from tournament.errors import UsageError, ungrouped
from tournament.evolve.evaluate import Evaluator
from tournament.game import Setting
from tournament.grow import Growth
from tournament.library import Entrants
from tournament.match import Fixture, Outcome
from tournament.program import KINDS, Program
from tournament.sandbox.image import Image, Say
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready
from tournament.seeds import tape_name
from tournament.store import Record, Recorder

RULES = 1
"""Rises when the engine plays the same inputs differently: matches under other rules are another run."""
WAITING = 4

LEAKY = """
    select distinct digest
    from leaks
    join matches using (match)
    join programs using (program)
    where run = {run}
"""
UNSURE = """
    select list(digest order by seat), repetition
    from matches
    join seats using (match)
    join programs using (program)
    where run = {run}
    group by match, repetition
    having bool_or(
        not coalesce(checked, false)
        and program in (select program from leaks join matches using (match) where run = {run})
    )
"""

Progress = Callable[[int, int], None]
"""Is told how many matches are recorded, and of how many that are to be: newcomers bring more."""
Problem = tuple[str, str]
"""The name of a file that does not play, and why."""


@dataclass(frozen=True)
class Lineup:
    """Who plays in a sitting, and which files do not: for a `problem`, or because they play `elsewhere`."""

    programs: tuple[Program, ...]
    problems: tuple[Problem, ...]
    elsewhere: tuple[Problem, ...]


@dataclass
class Summary:
    """What a sitting came to. `lost` are fixtures that could not be played; `signal` is what stopped it."""

    run: int
    planned: int
    before: int
    played: int = 0
    lost: tuple[Fixture, ...] = ()
    leaky: tuple[str, ...] = ()
    signal: int | None = None


def line_up(setting: Setting, entrants: Entrants) -> Lineup:
    """Sorts out who can play: files that are no programs, twins, and bots that do not play the game stay out."""
    game = setting.game.name
    playing = tuple(program for program in entrants.programs if program.fits(setting))
    others = [program for program in entrants.programs if program not in playing]
    abroad = [program for program in others if game not in _games(program) and _games(program)]
    if not entrants.programs and entrants.refused:
        raise entrants.refused[0]
    if not playing:
        raise UsageError(f"none of the bots plays {game}")
    problems = [*entrants.left_out, *(_unfit(each) for each in others if each not in abroad)]
    return Lineup(playing, tuple(problems), tuple(map(_unfit, abroad)))


def _games(program: Program) -> set[str]:
    return set(program.plays) - set(KINDS)


def _unfit(program: Program) -> Problem:
    return Path(program.path).name, f"plays {', '.join(program.plays)}"


def run_key(contest: Contest) -> str:
    """The digest of everything but the bots that a run's outcomes depend on."""
    limits = contest.limits
    return tape_name(RULES, contest.setting.key, contest.seed, limits.fuel, limits.memory)


class Crew:
    """Workers that are on their way."""

    def __init__(self, contest: Contest, count: int, say: Say) -> None:
        self._contest = contest
        self._count = count
        self._say = say
        self._here = anyio.Event()
        self._found: tuple[Pool, Image]

    async def come(self) -> None:
        """Start, and be there until cancelled."""
        contest = self._contest
        image = await image_ready(self._say)
        async with workers(image, self._count, contest.limits, [contest.setting.game]) as pool:
            self._found = pool, image
            self._here.set()
            await anyio.sleep_forever()

    async def ready(self) -> tuple[Pool, Image]:
        """The pool, once its workers have started, and the image that they run."""
        await self._here.wait()
        return self._found


class Stop:
    """Waits for SIGINT or SIGTERM, which cancel `scope`, whether it has been entered yet or not."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.scope = CancelScope()

    async def listen(self, *, task_status: TaskStatus[None]) -> None:
        """Listen, from when this says that it has started, for one signal: another does what it usually does."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for number in signals:
                self.signal = int(number)
                self.scope.cancel()
                return


@asynccontextmanager
async def open_sitting(
    path: Path,
    contest: Contest,
    lineup: Lineup,
    repetitions: int,
    worker_count: int,
    say: Say,
    growth: Growth | None = None,
) -> AsyncIterator["Sitting"]:
    """A sitting about to be held, with its record open. Its workers start while the record is opened.

    Raises what `Record.open` does.
    """
    with ungrouped():
        async with anyio.create_task_group() as group:
            crew, stop = Crew(contest, worker_count, say), Stop()
            await group.start(stop.listen)
            group.start_soon(crew.come)
            with await to_thread.run_sync(Record.open, path) as record:
                yield Sitting(record, contest, lineup, repetitions, crew, stop, growth)
            group.cancel_scope.cancel()


class Sitting:
    """A sitting about to be held: `missing` are the fixtures that are still to be played."""

    def __init__(
        self,
        record: Record,
        contest: Contest,
        lineup: Lineup,
        repetitions: int,
        crew: Crew,
        stop: Stop,
        growth: Growth | None = None,
    ) -> None:
        self.record = record
        self.contest = contest
        self._crew = crew
        self._stop = stop
        self.lineup = lineup
        self.repetitions = repetitions
        self.growth = growth
        planned = self._planned()
        limits = {"fuel": contest.limits.fuel, "memory": contest.limits.memory}
        config = contest.setting.config | {"limits": limits, "rules": RULES}
        moves = contest.setting.game.moves
        self.run = record.begin_run(run_key(contest), config, contest.seed, moves)
        contest.leaky.update(digest for (digest,) in self._ask(LEAKY))
        self._known = record.played(self.run)
        self.missing = self._new(planned)
        self.summary = Summary(self.run, len(planned), len(planned) - len(self.missing))

    async def hold(self, progress: Progress) -> Summary:
        """Play and record what is missing. What stops it ends it in good order."""
        if self.missing or self.growth or self._unsure():
            with self._stop.scope:
                await self._play(*await self._crew.ready(), progress)
        else:
            self.record.end_sitting(self._begin({}, None, 0), "done")
        self.summary.signal = self._stop.signal
        self.summary.leaky = tuple(sorted(self.contest.leaky.intersection(self.contest.programs)))
        return self.summary

    async def _play(self, pool: Pool, image: Image, progress: Progress) -> None:
        sitting = self._begin(pool.layers, image, pool.count)
        try:
            async with Recorder.open(self.record, sitting, self._counting(progress)) as recorder:
                again = await self._play_and_grow(pool, recorder, sitting)
            if again:
                self.record.replace(sitting, again)
            if unsure := self._unsure():
                self.record.replace(sitting, await self._play_all(unsure, pool, None))
        except BaseException:
            with suppress(Exception):
                self.record.end_sitting(sitting, self._ending())
            raise
        self.record.end_sitting(sitting, "failed" if self.summary.lost else "done")

    async def _play_all(
        self, fixtures: Sequence[Fixture], pool: Pool, recorder: Recorder | None
    ) -> list[Outcome]:
        """Play fixtures and record their outcomes; return those that are to replace outcomes on record."""
        again: list[Outcome] = []
        send, receive = anyio.create_memory_object_stream[Results](WAITING)
        async with anyio.create_task_group() as group, receive:
            group.start_soon(play_all, self.contest, fixtures, pool, send)
            async for results in receive:
                self.summary.lost += results.lost
                if results.again or recorder is None:
                    again += results.outcomes
                else:
                    await recorder.send(results.outcomes)
        return again

    async def _play_and_grow(self, pool: Pool, recorder: Recorder, sitting: int) -> list[Outcome]:
        """Play what is missing while chains grow, and what their programs bring as they are born."""
        again: list[Outcome] = []
        contest = self.contest

        async def play(fixtures: Sequence[Fixture]) -> None:
            again.extend(await self._play_all(fixtures, pool, recorder))

        async with anyio.create_task_group() as group:

            async def admit(program: Program) -> None:
                if contest.programs.setdefault(program.digest, program) is program:
                    self.record.admit(sitting, program)
                    new = self._new(self._planned())
                    self.summary.planned += len(new)
                    group.start_soon(play, new)

            if self.missing:
                group.start_soon(play, self.missing)
            if self.growth:
                evaluator = Evaluator(pool, contest.setting, contest.seed, contest.limits)
                group.start_soon(self.growth.grow, evaluator, self.record, self.run, admit)
        return again

    def _planned(self) -> list[Fixture]:
        return round_robin(self.contest.setting, list(self.contest.programs), self.repetitions)

    def _new(self, planned: Sequence[Fixture]) -> list[Fixture]:
        """The fixtures that are neither played nor on their way."""
        new = [fixture for fixture in planned if fixture not in self._known]
        self._known.update(new)
        return new

    def _unsure(self) -> list[Fixture]:
        """Fixtures played before one of their programs was known to leak, perhaps in a sitting before this one."""
        if not self.contest.leaky:
            return []
        played = (Fixture(tuple(lineup), repetition) for lineup, repetition in self._ask(UNSURE))
        return [each for each in played if self.contest.programs.keys() >= set(each.lineup)]

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        return self.record.sql(query.format(run=self.run))[1]

    def _counting(self, progress: Progress) -> Callable[[Sequence[Outcome]], None]:
        def committed(outcomes: Sequence[Outcome]) -> None:
            summary = self.summary
            summary.played += len(outcomes)
            progress(summary.played, summary.planned - summary.before)

        return committed

    def _ending(self) -> Any:
        return "interrupted" if self._stop.signal else "failed"

    def _begin(self, layers: dict[str, str], image: Image | None, worker_count: int) -> int:
        manifest = {
            "engine": __version__,
            "python": platform.python_version(),
            "wasmtime": version("wasmtime"),
            "platform": platform.platform(),
            "image": image.digest if image else None,
            "layers": layers,
            "workers": worker_count,
            "strict": self.contest.strict,
            "command": shlex.join(["tournament", *sys.argv[1:]]),
        }
        playing = [(program, program.name) for program in self.lineup.programs]
        left_out = self.lineup.problems + self.lineup.elsewhere
        return self.record.begin_sitting(self.run, manifest, playing, left_out)
