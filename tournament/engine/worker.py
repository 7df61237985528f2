"""The worker process: locks itself down, and plays the batches that arrive as frames over its channel.

It is forked from a process that has already loaded the image.
"""

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tournament.engine.audit import audited
from tournament.engine.batch import Batch
from tournament.engine.play import play
from tournament.engine.prove import answer
from tournament.game import StateGame
from tournament.sandbox.forks import serve_forks
from tournament.sandbox.frames import read_frame, write_frame
from tournament.sandbox.instance import Image
from tournament.sandbox.lockdown import die_with_parent, lock_down

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tournament.library import GameFactory

MODULE = "tournament.engine.worker"
QUESTION = b'{"prove"'
"""The beginning of a request that asks for a proof and not for a batch."""
SIGN_OF_LIFE_SECONDS = 1.0
MOST_MEMORY = 1 << 36
MOST_FRAMES = 10_000
"""The limit on Python frames in the worker. It is above what the deepest nested simulations need, so no bot hits it."""


def serve(image: Image, factories: "dict[str, GameFactory]", channel: int) -> None:
    """Answer every request that arrives, until the channel closes; send signs of life (empty frames) meanwhile."""
    reported = time.monotonic()

    def tick() -> None:
        nonlocal reported
        if time.monotonic() - reported > SIGN_OF_LIFE_SECONDS:
            write_frame(channel, b"")
            reported = time.monotonic()

    image.tick = tick
    while (request := read_frame(channel)) is not None:
        if request.startswith(QUESTION):
            write_frame(channel, answer(image, json.loads(request)["prove"]))
            continue
        batch = Batch.decoded(request)
        game = _state_game(factories, batch)
        played = play(image, batch, game)
        write_frame(channel, audited(image, batch, played, game).encoded())


def _factories(files: "Sequence[str]") -> "dict[str, GameFactory]":
    if not files:
        return {}
    # Imported only here, because it takes longer than the rest of the start.
    from tournament.library import game_factory

    return {Path(file).stem: game_factory(file) for file in files}


def _state_game(factories: "dict[str, GameFactory]", batch: Batch) -> StateGame | None:
    """Return the game of the batch if it has a state, because the worker then needs its rules; otherwise None."""
    maker = factories.get(batch.facts["name"])
    game = maker(batch.facts["parameters"]) if maker else None
    return game if isinstance(game, StateGame) else None


def main() -> None:
    """Fork workers; the arguments are the compiled image and the files of games that have a state."""
    die_with_parent()
    sys.setrecursionlimit(MOST_FRAMES)
    image = Image(Path(sys.argv[1]))
    image.warm()
    factories = _factories(sys.argv[2:])

    def work(channel: int) -> None:
        layers = lock_down((channel,), MOST_MEMORY)
        write_frame(channel, json.dumps({"layers": layers}).encode())
        serve(image, factories, channel)

    serve_forks(work)
