"""Worker processes, each with one request at a time: started, watched, stopped, replaced.

The parent trusts nothing that a worker says beyond its form: answers are frames of JSON. A worker that is silent for
longer than the wall-clock stop is killed; that is a failure of the engine's, never a bot's.
"""

import contextlib
import json
import math
import os
import resource
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from subprocess import PIPE
from typing import Any, TypeVar

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tournament.errors import WorkerLost
from tournament.sandbox.frames import HEAD, framed, length_of

T = TypeVar("T")
NONSENSE = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""Raised where something of an unexpected form is read."""
PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")
"""What a worker inherits of the environment: nothing that could hold a secret."""
STACK = 256 << 20
"""Bytes of stack for a worker: as many as the deepest nest of calls into instances can take (see `simulation.py`)."""
START_SECONDS = 60.0
LAST_WORDS = 4000


@dataclass
class Worker:
    """A running worker. `layers` are what it says holds around it (see `lockdown.py`)."""

    process: Process
    answers: BufferedByteReceiveStream
    silence: float
    layers: dict[str, str] = field(default_factory=dict)

    async def call(self, request: bytes) -> bytes:
        """The worker's answer. Raises `WorkerLost` if it dies, or is silent for too long."""
        try:
            assert self.process.stdin is not None
            await self.process.stdin.send(framed(request))
            return await self.answer(self.silence)
        except (anyio.EndOfStream, anyio.IncompleteRead) as error:
            raise WorkerLost(f"a worker process died ({await self._last_words()})") from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ValueError) as error:
            raise WorkerLost(f"a worker process broke off ({error})") from error

    async def answer(self, silence: float) -> bytes:
        """The next frame that is not a sign of life."""
        while True:
            try:
                with anyio.fail_after(silence):
                    length = length_of(await self.answers.receive_exactly(HEAD.size))
                    content = await self.answers.receive_exactly(length) if length else b""
            except TimeoutError:
                raise WorkerLost(f"a worker was silent for {silence:.0f} seconds") from None
            if content:
                return content

    async def stop(self) -> None:
        """Kill the process and wait until it is gone."""
        with anyio.CancelScope(shield=True):
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.aclose()

    async def _last_words(self) -> str:
        with anyio.move_on_after(5, shield=True):
            code = await self.process.wait()
            words = ""
            if self.process.stderr is not None:
                with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError):
                    words = (await self.process.stderr.receive(LAST_WORDS)).decode(errors="replace")
            return f"exit {code} {words.strip().splitlines()[-1] if words.strip() else ''}".strip()
        return "no exit status"


async def start_worker(module: str, arguments: Sequence[str], silence: float) -> Worker:
    """Start `python -m module arguments` and wait until it says hello. Raises `WorkerLost`."""
    _deepen_stack()
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    # -P: a bot called json.py in the folder where the command was given must not be imported as a module.
    # Cancelled while it starts, a process would be left that nobody waits for.
    with anyio.CancelScope(shield=True):
        process = await anyio.open_process(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=environment,
            start_new_session=True,
        )
    assert process.stdout is not None
    worker = Worker(process, BufferedByteReceiveStream(process.stdout), silence)
    try:
        hello: dict[str, Any] = json.loads(await worker.answer(START_SECONDS))
        worker.layers = {str(name): str(held) for name, held in hello["layers"].items()}
        return worker
    except (anyio.EndOfStream, anyio.IncompleteRead) as error:
        words = await worker._last_words()
        await worker.stop()
        raise WorkerLost(f"a worker process did not start ({words})") from error
    except NONSENSE as error:
        await worker.stop()
        raise WorkerLost(f"a worker process did not introduce itself ({error})") from error
    except BaseException:
        await worker.stop()
        raise


def _deepen_stack() -> None:
    """Raise the limit that processes started from now on inherit, as far as may be: it counts from their start."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


class Pool:
    """Keeps `count` workers; a lost one is replaced when it is next needed."""

    def __init__(self, module: str, arguments: Sequence[str], count: int, silence: float) -> None:
        self._start = (module, arguments, silence)
        self.count = count
        self._idle: list[Worker] = []
        self._free = anyio.Semaphore(count)
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
        worker = self._idle.pop() if self._idle else await start_worker(*self._start)
        try:
            answer = read(await worker.call(request))
        except NONSENSE as error:
            await worker.stop()
            raise WorkerLost(f"a worker process answered nonsense ({error})") from error
        except BaseException:
            await worker.stop()
            raise
        self._idle.append(worker)
        return answer

    async def close(self) -> None:
        """Stop every worker."""
        while self._idle:
            await self._idle.pop().stop()

    async def _add(self) -> None:
        worker = await start_worker(*self._start)
        self.layers = worker.layers
        self._idle.append(worker)


@contextlib.asynccontextmanager
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
