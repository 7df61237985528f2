"""Worker processes, each with one request at a time: started, watched, stopped, replaced.

The parent trusts nothing that a worker says beyond its form: answers are frames of JSON. A worker that is silent for
longer than the wall-clock stop is killed; that is a failure of the engine's, never a bot's.
"""

import json
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
from anyio.abc import UNIXSocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from tournament.errors import WorkerLost
from tournament.sandbox.forkserver import BROKEN, START_SECONDS, ForkServer, last_words
from tournament.sandbox.frames import HEAD, framed, length_of

T = TypeVar("T")
NONSENSE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""Raised where something of an unexpected form is read."""


@dataclass
class Worker:
    """A running worker. `layers` are what it says holds around it (see `lockdown.py`)."""

    server: ForkServer
    pid: int
    channel: UNIXSocketStream
    words: UNIXSocketStream
    silence: float
    layers: dict[str, str] = field(default_factory=dict)
    ended: str = ""

    def __post_init__(self) -> None:
        self._answers = BufferedByteReceiveStream(self.channel)

    @classmethod
    async def start(cls, server: ForkServer, silence: float) -> "Worker":
        """Fork a worker and wait until it says hello. Raises `WorkerLost`."""
        worker = cls(server, *await server.fork(), silence)
        try:
            hello: dict[str, Any] = json.loads(await worker.answer(START_SECONDS))
            worker.layers = {str(name): str(held) for name, held in hello["layers"].items()}
            return worker
        except BROKEN as error:
            raise WorkerLost(f"a worker process did not start ({await worker.stop()})") from error
        except NONSENSE as error:
            await worker.stop()
            raise WorkerLost(f"a worker process did not introduce itself ({error})") from error
        except BaseException:
            await worker.stop()
            raise

    async def call(self, request: bytes) -> bytes:
        """The worker's answer. Raises `WorkerLost` if it dies, or is silent for too long."""
        try:
            await self.channel.send(framed(request))
            return await self.answer(self.silence)
        except BROKEN as error:
            raise WorkerLost(f"a worker process died ({await self.stop()})") from error
        except ValueError as error:
            raise WorkerLost(f"a worker process broke off ({error})") from error

    async def answer(self, silence: float) -> bytes:
        """The next frame that is not a sign of life."""
        while True:
            try:
                with anyio.fail_after(silence):
                    length = length_of(await self._answers.receive_exactly(HEAD.size))
                    content = await self._answers.receive_exactly(length) if length else b""
            except TimeoutError:
                raise WorkerLost(f"a worker was silent for {silence:.0f} seconds") from None
            if content:
                return content

    async def stop(self) -> str:
        """End the process, if it has not ended; return how it ended, and its last words."""
        if not self.ended:
            with anyio.CancelScope(shield=True):
                self.ended = await self._end()
                await self.channel.aclose()
                await self.words.aclose()
        return self.ended

    async def _end(self) -> str:
        try:
            status = await self.server.end(self.pid)
        except WorkerLost as error:
            return str(error)
        return f"exit {status} {await last_words(self.words)}".rstrip()


class Pool:
    """Keeps `count` workers; a lost one is replaced when it is next needed."""

    def __init__(self, module: str, arguments: Sequence[str], count: int, silence: float) -> None:
        self._command = (module, arguments)
        self._silence = silence
        self.count = count
        self._server: ForkServer | None = None
        self._idle: list[Worker] = []
        self._free = anyio.Semaphore(count)
        self._turn = anyio.Lock()
        self.layers: dict[str, str] = {}

    async def open(self) -> None:
        """Start the workers, at the same time."""
        async with anyio.create_task_group() as group:
            for _ in range(self.count):
                group.start_soon(self._add)

    async def call(self, request: bytes, read: Callable[[bytes], T]) -> T:
        """Hand a request to an idle worker and read its answer. Raises `WorkerLost`.

        So it does where `read` raises, and the worker is replaced: one that answers nonsense is not asked again.
        """
        async with self._free:
            return await self._call(request, read)

    async def _call(self, request: bytes, read: Callable[[bytes], T]) -> T:
        worker = self._idle.pop() if self._idle else await self._started()
        try:
            answer = read(await worker.call(request))
        except NONSENSE as error:
            await self._lose(worker)
            raise WorkerLost(f"a worker process answered nonsense ({error})") from error
        except BaseException:
            await self._lose(worker)
            raise
        self._idle.append(worker)
        return answer

    async def close(self) -> None:
        """Stop every worker that is not being asked, and then all."""
        await self._dismiss()
        if self._server is not None:
            await self._server.close()

    async def _dismiss(self) -> None:
        while self._idle:
            await self._idle.pop().stop()

    async def _add(self) -> None:
        worker = await self._started()
        self.layers = worker.layers
        self._idle.append(worker)

    async def _started(self) -> Worker:
        """A new worker. Raises `WorkerLost`."""
        async with self._turn:
            if self._server is None or self._server.gone:
                await self.close()
                self._server = await ForkServer.start(*self._command)
        return await Worker.start(self._server, self._silence)

    async def _lose(self, worker: Worker) -> None:
        """Stop a worker; if the process that forked it has gone, none of the others is left either."""
        await worker.stop()
        if worker.server.gone:
            await self._dismiss()


@asynccontextmanager
async def open_pool(
    module: str, arguments: Sequence[str], count: int, silence: float = math.inf
) -> AsyncIterator[Pool]:
    """A pool of workers, all of them gone when the block is left."""
    pool = Pool(module, arguments, count, silence)
    try:
        await pool.open()
        yield pool
    finally:
        await pool.close()
