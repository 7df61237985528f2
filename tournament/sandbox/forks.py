"""The process that forks the workers, so that what all workers need is prepared once and not once for each.

This process runs no bot. It prepares what its workers share, and then forks one worker for each pair of sockets that
it is sent. It waits for a worker only when the engine asks it to end that worker. A process that has ended keeps its
number until it is waited for, so the number that the engine knows never means another process.
"""

import gc
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable
from typing import NoReturn

from tournament.sandbox.lockdown import die_with_parent

NUMBER = struct.Struct("<i")
"""The form of requests and answers on the control socket, which is stdin: one 32-bit integer."""
FORK = 0
"""The request for a new worker; the answer is its process number.

Any other request is the process number of a worker to be ended; the answer is its exit status.
"""

Work = Callable[[int], None]
"""The function that a worker runs, given the descriptor of the socket on which it receives its requests."""


def serve_forks(work: Work) -> NoReturn:
    """Fork and end workers as requested on stdin; when stdin is closed, end all workers and this process.

    A request to fork comes with two sockets: one that is passed to `work`, and one that becomes the worker's stdout
    and stderr. Garbage collection is switched on here, but it never examines the objects that exist already.
    """
    gc.freeze()
    gc.enable()
    control = socket.socket(fileno=os.dup(0))
    workers: set[int] = set()
    try:
        while True:
            request, sockets, *_ = socket.recv_fds(control, NUMBER.size, 2)
            if not request:
                break
            [worker] = NUMBER.unpack(request)
            if worker == FORK:
                answer = _forked(work, control, *sockets)
                workers.add(answer)
            else:
                workers.remove(worker)
                answer = _ended(worker)
            control.sendall(NUMBER.pack(answer))
    finally:
        for worker in workers:
            _ended(worker)
    # The engine waits for this process, and a regular exit of Python would take longer than ending all the workers.
    os._exit(0)


def _forked(work: Work, control: socket.socket, channel: int, output: int) -> int:
    """Fork a worker and return its process number."""
    worker = os.fork()
    if worker == 0:
        _work(work, control, channel, output)
    os.close(channel)
    os.close(output)
    return worker


def _work(work: Work, control: socket.socket, channel: int, output: int) -> None:
    """Run `work` in the newly forked process, and then end the process."""
    status = 1
    try:
        die_with_parent()
        control.close()
        os.close(0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
        work(channel)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _ended(worker: int) -> int:
    """Kill a worker if it still runs, and return its exit status: minus the number of the signal if one ended it."""
    os.kill(worker, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
