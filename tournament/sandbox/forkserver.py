"""The process that forks workers (see `forks.py`), as the engine sees it: started, asked, ended."""

import os
import resource
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from subprocess import DEVNULL, PIPE
from typing import Self

import anyio
from anyio.abc import ByteReceiveStream, Process, UNIXSocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from tournament.errors import WorkerLost
from tournament.sandbox.forks import FORK, NUMBER

PASSED_ON = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TMPDIR")
"""What workers inherit of the environment: nothing that could hold a secret."""
STACK = 256 << 20
"""Bytes of stack for a worker: as many as the deepest nest of calls into instances can take (see `simulation.py`)."""
START = "import gc; gc.disable(); from {module} import main; main()"
"""What is loaded is no garbage: to look for some time and again would make the start longer by a tenth."""
START_SECONDS = 60.0
LAST_SECONDS = 5.0
LAST_WORDS = 4000
BROKEN = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)
"""Raised where the other side is gone."""


class ForkServer:
    """A running process that forks workers: all of them are gone when it has been closed.

    It is `gone` when it has ended, or is of no use any more.
    """

    def __init__(self, process: Process, control: UNIXSocketStream) -> None:
        self.gone = False
        self._process = process
        self._control = control
        self._answers = BufferedByteReceiveStream(control)
        self._turn = anyio.Lock()

    @classmethod
    async def start(cls, module: str, arguments: Sequence[str]) -> Self:
        """Start the `main` of a module, with these arguments: it calls `serve_forks` when it is ready."""
        _deepen_stack()
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        ours, theirs = socket.socketpair()
        control = await UNIXSocketStream.from_socket(ours)
        # Cancelled while it starts, a process would be left that nobody waits for.
        with theirs, anyio.CancelScope(shield=True):
            # -P: a bot called json.py in the folder where the command was given must not be imported as a module.
            process = await anyio.open_process(
                [sys.executable, "-P", "-c", START.format(module=module), *arguments],
                stdin=theirs.fileno(),
                stdout=DEVNULL,
                stderr=PIPE,
                env=environment,
                start_new_session=True,
            )
        return cls(process, control)

    async def fork(self) -> tuple[int, UNIXSocketStream, UNIXSocketStream]:
        """A new worker: its process number, the channel to it, and its stderr. Raises `WorkerLost`."""
        channel, its_channel = socket.socketpair()
        words, its_words = socket.socketpair()
        with its_channel, its_words, ExitStack() as unused:
            unused.enter_context(channel)
            unused.enter_context(words)
            number = await self._ask(FORK, its_channel.fileno(), its_words.fileno())
            unused.pop_all()
        wrapped = UNIXSocketStream.from_socket
        return number, await wrapped(channel), await wrapped(words)

    async def end(self, worker: int) -> int:
        """The exit status of that worker, which is killed if it still runs. Raises `WorkerLost`."""
        return await self._ask(worker)

    async def close(self) -> None:
        """End the process, and all workers with it."""
        self.gone = True
        with anyio.CancelScope(shield=True):
            await self._control.aclose()
            with anyio.move_on_after(LAST_SECONDS):
                await self._process.wait()
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.aclose()

    async def _ask(self, request: int, *descriptors: int) -> int:
        """The answer to a request. After one that got none, nobody could tell what is answered."""
        async with self._turn:
            if self.gone:
                raise WorkerLost("the process that starts workers has ended")
            try:
                with anyio.fail_after(START_SECONDS):
                    return await self._exchange(request, descriptors)
            except BaseException as error:
                self.gone = True
                if not isinstance(error, (TimeoutError, *BROKEN)):
                    raise
                late = isinstance(error, TimeoutError)
                how = f"in {START_SECONDS:.0f} seconds" if late else f"({await self._end()})"
                raise WorkerLost(f"a worker process did not start {how}") from error

    async def _exchange(self, request: int, descriptors: Sequence[int]) -> int:
        message = NUMBER.pack(request)
        if descriptors:
            await self._control.send_fds(message, descriptors)
        else:
            await self._control.send(message)
        return int(NUMBER.unpack(await self._answers.receive_exactly(NUMBER.size))[0])

    async def _end(self) -> str:
        """How the process ended."""
        words = await last_words(self._process.stderr)
        return f"exit {await self._process.wait()} {words}".rstrip()


async def last_words(stream: ByteReceiveStream | None) -> str:
    """The last line that a process wrote to its stderr, of the first `LAST_WORDS` bytes, if it has ended."""
    words = b""
    with suppress(*BROKEN), anyio.move_on_after(LAST_SECONDS):
        while stream is not None and len(words) < LAST_WORDS:
            words += await stream.receive()
    lines = words[:LAST_WORDS].decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _deepen_stack() -> None:
    """Raise the limit that processes started from now on inherit, as far as may be: it counts from their start."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
