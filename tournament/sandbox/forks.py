"""Forks workers that are ready to start, so that what all of them need is made once, and not once for each.

This process runs no bot: it prepares what its workers share, and then forks one for each pair of sockets that it is
sent. Nobody but the one who started it waits for a worker that has ended, and only when told to: until then no other
process gets its number.
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
"""The form of requests and answers on the control socket, which is stdin."""
FORK = 0
"""Asks for a worker, whose process number is the answer. Any other request is such a number: that worker is ended."""

Work = Callable[[int], None]
"""What a worker does, given the socket over which it is asked."""


def serve_forks(work: Work) -> NoReturn:
    """Fork and end workers as requested on stdin, and when that ends, end them all and this process.

    With a request to fork come two sockets: the one that is given to `work`, and one that is to be its stderr. Garbage
    is collected from now on, but not looked for among what there is already.
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
    # Whoever started this process waits for it, and Python takes longer to tidy up than all the workers to end.
    os._exit(0)


def _forked(work: Work, control: socket.socket, channel: int, words: int) -> int:
    """The process number of a new worker."""
    worker = os.fork()
    if worker == 0:
        _work(work, control, channel, words)
    os.close(channel)
    os.close(words)
    return worker


def _work(work: Work, control: socket.socket, channel: int, words: int) -> None:
    """Be a worker, and end."""
    status = 1
    try:
        die_with_parent()
        control.close()
        os.close(0)
        os.dup2(words, 1)
        os.dup2(words, 2)
        os.close(words)
        work(channel)
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _ended(worker: int) -> int:
    """The exit status of a worker, which is killed if it still runs; minus a signal's number, if that ended it."""
    os.kill(worker, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
