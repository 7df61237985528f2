"""The resources of a session: the open record, the worker pool and the signal listener.

Several sessions may share them and run at the same time.
"""

import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import anyio
from anyio import CancelScope, to_thread
from anyio.abc import TaskStatus

from tournament.engine.run import workers
from tournament.errors import ungrouped
from tournament.game import Game
from tournament.sandbox.image import Image, Say
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready
from tournament.store import Record

SHOW_CURSOR = b"\x1b[?25h"
"""The escape sequence that makes a terminal show its cursor again after a progress bar has hidden it."""


class PendingPool:
    """A worker pool that starts in the background; its workers can play the given games."""

    def __init__(self, games: Sequence[Game], limits: Limits, count: int, report: Say) -> None:
        self._games = games
        self._limits = limits
        self.count = count
        self._report = report
        self._opened = anyio.Event()
        self._scope = CancelScope()
        self._result: tuple[Pool, Image]

    async def start(self) -> None:
        """Start the workers and keep them until `stop` is called or the task is cancelled."""
        with self._scope:
            image = await image_ready(self._report)
            async with workers(image, self.count, self._limits, self._games) as pool:
                self._result = pool, image
                self._opened.set()
                await anyio.sleep_forever()

    def stop(self) -> None:
        """Let the workers end; return without waiting until they have ended."""
        self._scope.cancel()

    async def ready(self) -> tuple[Pool, Image]:
        """Wait until the pool is open, then return it and the sandbox image that its workers run."""
        await self._opened.wait()
        return self._result


class Stop:
    """Listens for SIGINT and SIGTERM and then cancels every block that was entered with `cancellable`.

    `signal` is the number of the signal that was received, or None.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._scopes: list[CancelScope] = []

    async def listen(self, *, task_status: TaskStatus[None]) -> None:
        """Listen for signals: the first one cancels the blocks, a second one ends the process at once.

        `task_status` reports when the listening has begun.
        """
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for number in signals:
                if self.signal is not None:
                    _exit_now(int(number))
                self.signal = int(number)
                for scope in self._scopes:
                    scope.cancel()

    @contextmanager
    def cancellable(self) -> Iterator[None]:
        """Run a block that a signal cancels. It is cancelled at once if a signal was received before it began."""
        with CancelScope() as scope:
            self._scopes.append(scope)
            if self.signal is not None:
                scope.cancel()
            yield


def _exit_now(number: int) -> NoReturn:
    """End this process without any cleanup, with exit code 128 + `number`.

    This is safe because the record survives a killed process, and the workers die with this process.
    """
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)
    os._exit(128 + number)


@dataclass(frozen=True)
class Resources:
    """The resources that sessions running at the same time share."""

    record: Record
    pending_pool: PendingPool
    stop: Stop


@asynccontextmanager
async def open_resources(
    path: Path, games: Sequence[Game], limits: Limits, worker_count: int, report: Say
) -> AsyncIterator[Resources]:
    """Open the record at `path` and a pool of workers for sessions of these games.

    To save time, the workers start while the record is being opened and end while it is being closed, which is done in
    a thread. Raises the same errors as `Record.open`.
    """
    with ungrouped():
        async with anyio.create_task_group() as group:
            pending_pool, stop = PendingPool(games, limits, worker_count, report), Stop()
            await group.start(stop.listen)
            group.start_soon(pending_pool.start)
            record = await to_thread.run_sync(Record.open, path)
            try:
                yield Resources(record, pending_pool, stop)
            finally:
                pending_pool.stop()
                with CancelScope(shield=True):
                    await to_thread.run_sync(record.close)
            group.cancel_scope.cancel()
