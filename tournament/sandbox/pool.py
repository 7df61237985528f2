"""A pool of worker processes: starts, watches, stops and replaces them. Each worker has one request at a time.

The engine trusts nothing that a worker sends: answers are frames of JSON, and their form is checked. A worker that is
silent for longer than the wall-clock limit is killed. That counts as a failure of the engine, never of a bot.
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
"""The exceptions that are raised when something of an unexpected form is read."""


@dataclass
class Worker:
    """A running worker process.

    `silence` is how many seconds it may take without sending anything. `layers` is its own report of the lockdown
    layers that are in force (see `lockdown.py`). `ended` says how it ended, and is empty while it runs.
    """

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
        """Fork a worker and wait for its first message, which reports its layers. Raises `WorkerLost`."""
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
        """Send a request and return the answer. Raises `WorkerLost` if the worker dies or is silent for too long."""
        try:
            await self.channel.send(framed(request))
            return await self.answer(self.silence)
        except BROKEN as error:
            raise WorkerLost(f"a worker process died ({await self.stop()})") from error
        except ValueError as error:
            raise WorkerLost(f"a worker process broke off ({error})") from error

    async def answer(self, silence: float) -> bytes:
        """Return the content of the next frame that is not empty; empty frames only show that the worker still runs.

        Raises `WorkerLost` if no frame arrives for `silence` seconds, and one of `BROKEN` if the worker has ended.
        """
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
        """End the process if it still runs; return how it ended, with the last line of its output."""
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
    """A pool of `count` workers. A worker that was lost is replaced when one is next needed.

    `silence` is how many seconds a worker may take without sending anything. `layers` are the lockdown layers that
    the workers report.
    """

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
        """Start all workers at the same time. Raises `WorkerLost`, in an exception group."""
        async with anyio.create_task_group() as group:
            for _ in range(self.count):
                group.start_soon(self._add)

    async def call(self, request: bytes, read: Callable[[bytes], T]) -> T:
        """Wait for an idle worker, send it a request, and return what `read` makes of its answer.

        Raises `WorkerLost` if the worker is lost, or if `read` raises one of `NONSENSE`. After any exception the worker
        is stopped: it is not sent another request.
        """
        async with self._free:
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
        """Stop the idle workers, and then the process that forks workers, which ends all the others."""
        await self._dismiss()
        if self._server is not None:
            await self._server.close()

    async def _dismiss(self) -> None:
        """Stop the idle workers."""
        while self._idle:
            await self._idle.pop().stop()

    async def _add(self) -> None:
        """Start a worker and add it to the idle ones."""
        worker = await self._started()
        self.layers = worker.layers
        self._idle.append(worker)

    async def _started(self) -> Worker:
        """Start a worker, and first the process that forks workers if none is running. Raises `WorkerLost`."""
        async with self._turn:
            if self._server is None or self._server.gone:
                await self.close()
                self._server = await ForkServer.start(*self._command)
        return await Worker.start(self._server, self._silence)

    async def _lose(self, worker: Worker) -> None:
        """Stop a worker, and the idle ones too if the process that forked them is gone, since they are lost with it."""
        await worker.stop()
        if worker.server.gone:
            await self._dismiss()


@asynccontextmanager
async def open_pool(
    module: str, arguments: Sequence[str], count: int, silence: float = math.inf
) -> AsyncIterator[Pool]:
    """Open a pool of workers, and end all of them when the block is left."""
    pool = Pool(module, arguments, count, silence)
    try:
        await pool.open()
        yield pool
    finally:
        await pool.close()
