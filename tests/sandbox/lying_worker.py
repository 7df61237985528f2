"""A worker process that does not do what it should: how is its argument."""

import json
import os
import sys
import time

from tournament.sandbox.frames import framed

HELLO = framed(json.dumps({"layers": {"namespaces": "none: not in a test"}}).encode())
HUGE = (1 << 31).to_bytes(4, "little")


def main() -> None:
    """Misbehave."""
    how = sys.argv[1]
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
    os.write(1, say)
    if say != HELLO:
        sys.exit(f"exit of {how}")
    while os.read(0, 1 << 16):
        if how == "environment":
            os.write(1, framed(json.dumps(dict(os.environ)).encode()))
        elif how == "echo":
            os.write(1, framed(b"") * 3 + framed(b"1"))
        elif how == "die":
            sys.exit("its last words")
        elif how == "huge":
            os.write(1, HUGE + b"x")
        elif how == "garbage":
            os.write(1, b"\xff" * 64)
        elif how == "cut short":
            os.write(1, framed(b"[1, 2]")[:-1])
            sys.exit()
        elif how == "nonsense":
            os.write(1, framed(b'{"moves": 1}'))
        elif how == "depth":
            os.write(1, framed(b"[" * 100_000))
        elif how == "chatter":
            os.write(2, b"x" * 60_000)
            os.write(1, framed(b"1"))
        elif how == "silence":
            time.sleep(600)


if __name__ == "__main__":
    main()
