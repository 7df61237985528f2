"""One sitting of a run: plays what the record lacks, and records it as it comes in.

This is where the engine and the record meet. A sitting that is stopped, or killed, leaves a record that the next one
goes on from.
"""

import platform
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio

from tournament import __version__
from tournament.engine.run import Contest, Plan, Results, planned, play_all
from tournament.engine.schedule import round_robin
from tournament.errors import UsageError
from tournament.evolve.evaluate import Evaluator
from tournament.game import Setting
from tournament.grow import Growth, share_limits
from tournament.library import Entrants
from tournament.match import Fixture, Outcome
from tournament.program import KINDS, Program
from tournament.room import Room, open_room
from tournament.sandbox.image import Image, Say
from tournament.sandbox.pool import Pool
from tournament.seeds import tape_name
from tournament.store import Recorder

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


NOBODY = Lineup((), (), ())


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


@dataclass(frozen=True)
class Table:
    """What a sitting is about: who plays what, how often, and what grows meanwhile."""

    contest: Contest
    lineup: Lineup = NOBODY
    repetitions: int = 1
    growth: Growth | None = None


@asynccontextmanager
async def open_sittings(
    path: Path, tables: Sequence[Table], worker_count: int, say: Say
) -> AsyncIterator[list["Sitting"]]:
    """Sittings about to be held, with their record open. Bots of all have the same limits; so has what grows.

    Raises what `Record.open` does.
    """
    games = [table.contest.setting.game for table in tables]
    async with open_room(path, games, tables[0].contest.limits, worker_count, say) as room:
        sittings = [Sitting(room, table) for table in tables]
        if growths := [table.growth for table in tables if table.growth]:
            share_limits(growths, room.record, [sitting.run for sitting in sittings])
        yield sittings


async def hold_all(sittings: Sequence["Sitting"]) -> list[Summary]:
    """Hold sittings at once, and return what each came to."""
    async with anyio.create_task_group() as group:
        for sitting in sittings:
            group.start_soon(sitting.hold, lambda *_: None)
    return [sitting.summary for sitting in sittings]


class Sitting:
    """A sitting about to be held: `missing` are the fixtures that are still to be played."""

    def __init__(self, room: Room, table: Table) -> None:
        self.record = record = room.record
        self.contest = contest = table.contest
        self.lineup = table.lineup
        self.repetitions = table.repetitions
        self.growth = table.growth
        self._crew = room.crew
        self._stop = room.stop
        fixtures = self._planned()
        limits = {"fuel": contest.limits.fuel, "memory": contest.limits.memory}
        config = contest.setting.config | {"limits": limits, "rules": RULES}
        moves = contest.setting.game.moves
        self.run = record.begin_run(run_key(contest), config, contest.seed, moves)
        contest.leaky.update(digest for (digest,) in self._ask(LEAKY))
        self._known = record.played(self.run)
        self.missing = self._new(fixtures)
        self.summary = Summary(self.run, len(fixtures), len(fixtures) - len(self.missing))

    async def hold(self, progress: Progress) -> Summary:
        """Play and record what is missing. What stops it ends it in good order."""
        if self.missing or self.growth or self._unsure():
            with self._stop.heard():
                plan = planned(self.contest, self.missing, self._crew.count)
                await self._play(*await self._crew.ready(), plan, progress)
        else:
            self.record.end_sitting(self._begin({}, None, 0), "done")
        self.summary.signal = self._stop.signal
        self.summary.leaky = tuple(sorted(self.contest.leaky.intersection(self.contest.programs)))
        return self.summary

    async def _play(self, pool: Pool, image: Image, plan: Plan, progress: Progress) -> None:
        sitting = self._begin(pool.layers, image, pool.count)
        try:
            async with Recorder.open(self.record, sitting, self._counting(progress)) as recorder:
                again = await self._play_and_grow(plan, pool, recorder, sitting)
            if again:
                self.record.replace(sitting, again)
            if unsure := self._unsure():
                plan = planned(self.contest, unsure, pool.count)
                self.record.replace(sitting, await self._play_all(plan, pool, None))
        except BaseException:
            with suppress(Exception):
                self.record.end_sitting(sitting, self._ending())
            raise
        self.record.end_sitting(sitting, "failed" if self.summary.lost else "done")

    async def _play_all(self, plan: Plan, pool: Pool, recorder: Recorder | None) -> list[Outcome]:
        """Play what is planned and record its outcomes; return those that are to replace outcomes on record."""
        again: list[Outcome] = []
        send, receive = anyio.create_memory_object_stream[Results](WAITING)
        async with anyio.create_task_group() as group, receive:
            group.start_soon(play_all, self.contest, plan, pool, send)
            async for results in receive:
                self.summary.lost += results.lost
                if results.again or recorder is None:
                    again += results.outcomes
                else:
                    await recorder.send(results.outcomes)
        return again

    async def _play_and_grow(
        self, plan: Plan, pool: Pool, recorder: Recorder, sitting: int
    ) -> list[Outcome]:
        """Play what is planned while chains grow, and what their programs bring as they are born."""
        again: list[Outcome] = []
        contest = self.contest

        async def play(plan: Plan) -> None:
            again.extend(await self._play_all(plan, pool, recorder))

        async with anyio.create_task_group() as group:

            async def admit(program: Program) -> None:
                if contest.programs.setdefault(program.digest, program) is program:
                    self.record.admit(sitting, program)
                    new = self._new(self._planned())
                    self.summary.planned += len(new)
                    group.start_soon(play, planned(contest, new, pool.count))

            group.start_soon(play, plan)
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
