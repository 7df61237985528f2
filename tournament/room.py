"""Where sittings are held: a record, workers, and an ear for signals. Several may be held at once."""

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
"""What a terminal is told where a progress bar has hidden its cursor."""


class Crew:
    """Workers that are on their way, and that will play these games."""

    def __init__(self, games: Sequence[Game], limits: Limits, count: int, say: Say) -> None:
        self._games = games
        self._limits = limits
        self.count = count
        self._say = say
        self._here = anyio.Event()
        self._scope = CancelScope()
        self._found: tuple[Pool, Image]

    async def come(self) -> None:
        """Start, and be there until told to leave."""
        with self._scope:
            image = await image_ready(self._say)
            async with workers(image, self.count, self._limits, self._games) as pool:
                self._found = pool, image
                self._here.set()
                await anyio.sleep_forever()

    def leave(self) -> None:
        """End, while whoever says so goes on."""
        self._scope.cancel()

    async def ready(self) -> tuple[Pool, Image]:
        """The pool, once its workers have started, and the image that they run."""
        await self._here.wait()
        return self._found


class Stop:
    """Waits for SIGINT or SIGTERM, which end every block that is entered with `heard`."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self._scopes: list[CancelScope] = []

    async def listen(self, *, task_status: TaskStatus[None]) -> None:
        """Listen, from when this says that it has started, for a first signal, and for a second: that ends at once."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for number in signals:
                if self.signal is not None:
                    _leave(int(number))
                self.signal = int(number)
                for scope in self._scopes:
                    scope.cancel()

    @contextmanager
    def heard(self) -> Iterator[None]:
        """A block that a signal cancels, also one that came before."""
        with CancelScope() as scope:
            self._scopes.append(scope)
            if self.signal is not None:
                scope.cancel()
            yield


def _leave(number: int) -> NoReturn:
    """End this process, as if killed: the record is fit for that, and its workers die with it."""
    if os.isatty(2):
        os.write(2, SHOW_CURSOR)
    os._exit(128 + number)


@dataclass(frozen=True)
class Room:
    """What sittings that are held at once share."""

    record: Record
    crew: Crew
    stop: Stop


@asynccontextmanager
async def open_room(
    path: Path, games: Sequence[Game], limits: Limits, worker_count: int, say: Say
) -> AsyncIterator[Room]:
    """A room for sittings of these games. Its workers start while the record is opened, and end while it is closed.

    Raises what `Record.open` does.
    """
    with ungrouped():
        async with anyio.create_task_group() as group:
            crew, stop = Crew(games, limits, worker_count, say), Stop()
            await group.start(stop.listen)
            group.start_soon(crew.come)
            async with _opened(path) as record:
                try:
                    yield Room(record, crew, stop)
                finally:
                    crew.leave()
            group.cancel_scope.cancel()


@asynccontextmanager
async def _opened(path: Path) -> AsyncIterator[Record]:
    """The record, opened and closed while other tasks go on."""
    record = await to_thread.run_sync(Record.open, path)
    try:
        yield record
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(record.close)
