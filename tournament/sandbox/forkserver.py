"""The engine's side of the process that forks workers (see `forks.py`): starts it, sends it requests, ends it."""

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
"""The environment variables that workers inherit. None of them is likely to hold a secret."""
STACK = 256 << 20
"""Bytes of stack for a worker: enough for the deepest nesting of calls into instances (see `simulation.py`)."""
START = "import gc; gc.disable(); from {module} import main; main()"
"""The command of the process. Imports leave no garbage, and collecting it would make the start a tenth longer."""
START_SECONDS = 60.0
LAST_SECONDS = 5.0
MOST_OUTPUT = 4000
BROKEN = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)
"""The exceptions that are raised when the process at the other end of a socket has ended."""


class ForkServer:
    """A running process that forks workers. Closing it ends all of its workers.

    `gone` is whether it has been closed, or has failed to answer a request and must not be used any more.
    """

    def __init__(self, process: Process, control: UNIXSocketStream) -> None:
        self.gone = False
        self._process = process
        self._control = control
        self._answers = BufferedByteReceiveStream(control)
        self._turn = anyio.Lock()

    @classmethod
    async def start(cls, module: str, arguments: Sequence[str]) -> Self:
        """Start a process that runs the `main` of a module with these arguments.

        That function must call `serve_forks` when it is ready.
        """
        _deepen_stack()
        environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        ours, theirs = socket.socketpair()
        control = await UNIXSocketStream.from_socket(ours)
        # If the start could be cancelled halfway, it would leave a process that nobody waits for.
        with theirs, anyio.CancelScope(shield=True):
            # -P: a bot called json.py in the current folder must not be imported as a module.
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
        """Fork a worker; return its process number, the channel to it, and a stream of its stdout and stderr.

        Raises `WorkerLost`.
        """
        channel, its_channel = socket.socketpair()
        output, its_output = socket.socketpair()
        with its_channel, its_output, ExitStack() as unused:
            unused.enter_context(channel)
            unused.enter_context(output)
            number = await self._ask("start", FORK, its_channel.fileno(), its_output.fileno())
            unused.pop_all()
        wrapped = UNIXSocketStream.from_socket
        return number, await wrapped(channel), await wrapped(output)

    async def end(self, worker: int) -> int:
        """Kill a worker if it still runs, and return its exit status. Raises `WorkerLost`."""
        return await self._ask("end", worker)

    async def close(self) -> None:
        """End the process and all its workers."""
        self.gone = True
        with anyio.CancelScope(shield=True):
            await self._control.aclose()
            with anyio.move_on_after(LAST_SECONDS):
                await self._process.wait()
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.aclose()

    async def _ask(self, action: str, request: int, *descriptors: int) -> int:
        """Return the answer to a request for some action, sent with these file descriptors.

        Raises `WorkerLost` if there is no answer. The process is not used again after that: it would not be clear which
        request a later answer belongs to.
        """
        async with self._turn:
            if self.gone:
                raise WorkerLost("the process that starts workers has ended")
            message = NUMBER.pack(request)
            try:
                with anyio.fail_after(START_SECONDS):
                    if descriptors:
                        await self._control.send_fds(message, descriptors)
                    else:
                        await self._control.send(message)
                    return int(NUMBER.unpack(await self._answers.receive_exactly(NUMBER.size))[0])
            except BaseException as error:
                self.gone = True
                if isinstance(error, TimeoutError):
                    how = f"in {START_SECONDS:.0f} seconds"
                elif isinstance(error, BROKEN):
                    output = await last_words(self._process.stderr)
                    how = f"({f'exit {await self._process.wait()} {output}'.rstrip()})"
                else:
                    raise
                raise WorkerLost(f"a worker process did not {action} {how}") from error


async def last_words(stream: ByteReceiveStream | None) -> str:
    """Return the last line of what a process wrote, of which only the first `MOST_OUTPUT` bytes are read.

    It waits for the stream to end, but for no longer than `LAST_SECONDS`. Without any output it returns "".
    """
    output = b""
    with suppress(*BROKEN), anyio.move_on_after(LAST_SECONDS):
        while stream is not None and len(output) < MOST_OUTPUT:
            output += await stream.receive()
    lines = output[:MOST_OUTPUT].decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _deepen_stack() -> None:
    """Raise the soft limit on the stack to `STACK` bytes, or to the hard limit if that is lower.

    It applies to the processes that are started from now on, because the limit is read when a process starts.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK if hard == resource.RLIM_INFINITY else min(STACK, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
