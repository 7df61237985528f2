"""The worker process: loads the image, locks itself down, and plays batches that come as frames on its stdin."""

import json
import os
import sys
import time
from pathlib import Path

from tournament.engine.audit import play_audited
from tournament.engine.batch import Batch
from tournament.sandbox.frames import read_frame, write_frame
from tournament.sandbox.instance import Image
from tournament.sandbox.lockdown import die_with_parent, lock_down

MODULE = "tournament.engine.worker"
SIGN_OF_LIFE_SECONDS = 1.0
MOST_MEMORY = 1 << 36


def serve(image: Image, requests: int, answers: int) -> None:
    """Play every batch that comes, until no more come; give signs of life meanwhile."""
    said = time.monotonic()

    def tick() -> None:
        nonlocal said
        if time.monotonic() - said > SIGN_OF_LIFE_SECONDS:
            write_frame(answers, b"")
            said = time.monotonic()

    image.tick = tick
    while (request := read_frame(requests)) is not None:
        write_frame(answers, play_audited(image, Batch.decoded(request)).encoded())


def main() -> None:
    """Serve on stdin and stdout with the compiled image that the only argument names."""
    die_with_parent()
    answers = os.dup(1)
    os.dup2(2, 1)
    image = Image(Path(sys.argv[1]))
    image.warm()
    layers = lock_down((0, answers), MOST_MEMORY)
    write_frame(answers, json.dumps({"layers": layers}).encode())
    serve(image, 0, answers)


if __name__ == "__main__":
    main()
