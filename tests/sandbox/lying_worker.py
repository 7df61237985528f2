"""A worker process that does not do what it should: how is its argument."""

import atexit
import gc
import json
import os
import sys
import time
from typing import NoReturn

from tournament.sandbox.forks import serve_forks
from tournament.sandbox.frames import framed

HELLO = framed(json.dumps({"layers": {"namespaces": "none: not in a test"}}).encode())
HUGE = (1 << 31).to_bytes(4, "little")
COLLECTED_WHILE_LOADED = gc.isenabled()


def main() -> None:
    """Misbehave."""
    how = sys.argv[1]
    if how == "no start":
        sys.exit("exit of no start")
    if how == "no end":
        atexit.register(time.sleep, 600)
    serve_forks(lambda channel: lie(how, channel))


def lie(how: str, channel: int) -> None:
    """Be such a worker."""
    say = {
        "no hello": b"",
        "hello in garbage": b"\xff" * 64,
        "hello that is no JSON": framed(b"hello"),
        "hello without layers": framed(b"{}"),
        "hello of another form": framed(b"[[]]"),
        "hello that is too deep": framed(b"[" * 100_000),
        "hello that is huge": HUGE,
        "hello cut short": HELLO[:-1],
    }.get(how, HELLO)
    os.write(channel, say)
    if say != HELLO:
        leave(f"exit of {how}")
    while os.read(channel, 1 << 16):
        if how == "environment":
            os.write(channel, framed(json.dumps(dict(os.environ)).encode()))
        elif how == "files":
            os.write(channel, framed(json.dumps(os.listdir("/proc/self/fd")).encode()))
        elif how == "garbage collection":
            found = [COLLECTED_WHILE_LOADED, gc.isenabled(), gc.get_freeze_count() > 0]
            os.write(channel, framed(json.dumps(found).encode()))
        elif how == "echo":
            os.write(channel, framed(b"") * 3 + framed(b"1"))
        elif how == "die":
            leave("its last words")
        elif how == "raise":
            raise RuntimeError("its last line")
        elif how == "huge":
            os.write(channel, HUGE + b"x")
        elif how == "garbage":
            os.write(channel, b"\xff" * 64)
        elif how == "cut short":
            os.write(channel, framed(b"[1, 2]")[:-1])
            return
        elif how == "nonsense":
            os.write(channel, framed(b'{"moves": 1}'))
        elif how == "depth":
            os.write(channel, framed(b"[" * 100_000))
        elif how == "chatter":
            os.write(2, b"x" * 60_000)
            os.write(channel, framed(b"1"))
        elif how == "silence":
            time.sleep(600)


def leave(words: str) -> NoReturn:
    """End with these words."""
    os.write(2, words.encode())
    os._exit(1)
