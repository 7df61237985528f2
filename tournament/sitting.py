"""One sitting of a run: plays what the record lacks, and records it as it comes in.

This is where the engine and the record meet. A sitting that is stopped, or killed, leaves a record that the next one
goes on from.
"""

import platform
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from anyio.abc import CancelScope
from anyio.streams.memory import MemoryObjectReceiveStream

from tournament import __version__
from tournament.engine.run import Contest, Results, play_all, workers
from tournament.engine.schedule import round_robin
from tournament.errors import UsageError
from tournament.library import Entrants
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.sandbox.image import Image, Say, prepare
from tournament.sandbox.pool import Pool
from tournament.seeds import tape_name
from tournament.store import Record, Recorder

RULES = 1
"""Rises when the engine plays the same inputs differently: matches under other rules are another run."""
WAITING = 4

Progress = Callable[[Sequence[Outcome]], None]


@dataclass(frozen=True)
class Lineup:
    """Who plays in a sitting, and which files do not and why."""

    programs: tuple[Program, ...]
    left_out: tuple[tuple[str, str], ...]


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


def line_up(contest_fits: Callable[[Program], bool], entrants: Entrants, game: str) -> Lineup:
    """Sorts out who can play: files that are no programs, twins, and bots that do not play the game stay out."""
    playing = tuple(program for program in entrants.programs if contest_fits(program))
    left_out = [(Path(refused.file).name, refused.problem) for refused in entrants.refused]
    left_out += [
        (Path(twin.path).name, f"is the same program as {Path(entered.path).name}")
        for twin, entered in entrants.twins
    ]
    left_out += [
        (Path(program.path).name, f"plays {', '.join(program.plays)}")
        for program in entrants.programs
        if program not in playing
    ]
    if not playing:
        raise UsageError(f"none of the bots plays {game}")
    return Lineup(playing, tuple(left_out))


def run_key(contest: Contest) -> str:
    """The digest of everything but the bots that a run's outcomes depend on."""
    limits = contest.limits
    return tape_name(RULES, contest.setting.key, contest.seed, limits.fuel, limits.memory)


class Sitting:
    """A sitting about to be held: `missing` are the fixtures that are still to be played."""

    def __init__(self, record: Record, contest: Contest, lineup: Lineup, repetitions: int) -> None:
        self.record = record
        self.contest = contest
        self.lineup = lineup
        limits = {"fuel": contest.limits.fuel, "memory": contest.limits.memory}
        config = contest.setting.config | {"limits": limits, "rules": RULES}
        moves = contest.setting.game.moves
        self.run = record.begin_run(run_key(contest), config, contest.seed, moves)
        planned = round_robin(contest.setting, list(contest.programs), repetitions)
        played = record.played(self.run)
        self.missing = [fixture for fixture in planned if fixture not in played]
        self.summary = Summary(self.run, len(planned), len(planned) - len(self.missing))

    async def hold(self, worker_count: int, say: Say, progress: Progress) -> Summary:
        """Play and record what is missing. SIGINT and SIGTERM end it in good order."""
        if not self.missing:
            self.record.end_sitting(self._begin({}, None, 0), "done")
            return self.summary
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen, group.cancel_scope)
            image = await to_thread.run_sync(prepare, say, abandon_on_cancel=True)
            async with workers(image, worker_count, self.contest.limits) as pool:
                await self._play(pool, image, progress)
            group.cancel_scope.cancel()
        self.summary.leaky = tuple(sorted(self.contest.leaky))
        return self.summary

    async def _play(self, pool: Pool, image: Image, progress: Progress) -> None:
        sitting = self._begin(pool.layers, image, pool.count)
        again: list[Outcome] = []
        try:
            async with Recorder.open(self.record, sitting, self._counting(progress)) as recorder:
                send, receive = anyio.create_memory_object_stream[Results](WAITING)
                async with anyio.create_task_group() as group:
                    group.start_soon(play_all, self.contest, self.missing, pool, send)
                    await self._record(receive, recorder, again)
            if again:
                self.record.replace(sitting, again)
        except BaseException:
            with suppress(Exception):
                self.record.end_sitting(sitting, self._ending())
            raise
        self.record.end_sitting(sitting, "failed" if self.summary.lost else "done")

    async def _record(
        self,
        receive: MemoryObjectReceiveStream[Results],
        recorder: Recorder,
        again: list[Outcome],
    ) -> None:
        async with receive:
            async for results in receive:
                self.summary.lost += results.lost
                if results.again:
                    again += results.outcomes
                else:
                    await recorder.send(results.outcomes)

    def _counting(self, progress: Progress) -> Progress:
        def committed(outcomes: Sequence[Outcome]) -> None:
            self.summary.played += len(outcomes)
            progress(outcomes)

        return committed

    def _ending(self) -> Any:
        return "interrupted" if self.summary.signal else "failed"

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
        return self.record.begin_sitting(self.run, manifest, playing, self.lineup.left_out)

    async def _listen(self, scope: CancelScope) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for number in signals:
                self.summary.signal = int(number)
                scope.cancel()
                return
