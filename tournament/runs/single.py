"""Plays matches, and decides statements, outside a tournament and without recording them.

These matches are played strictly: every seat of every match has a WebAssembly instance of its own.
"""

from collections.abc import Sequence
from dataclasses import replace

import anyio

from tournament.engine.prove import Answer, prove
from tournament.engine.run import Contest, play_batch, workers
from tournament.errors import ungrouped
from tournament.game import Setting
from tournament.match import Fixture, Outcome
from tournament.sandbox.image import Say
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready


def play_strictly(contest: Contest, fixtures: Sequence[Fixture], report: Say) -> list[Outcome]:
    """Play the fixtures strictly and return their outcomes in order.

    Raises `WorkerLost` if the worker dies, and `ImageError` if there is no sandbox image.
    """

    async def play() -> list[Outcome]:
        image, games = await image_ready(report), [contest.setting.game]
        async with workers(image, 1, contest.limits, games) as pool:
            return await played_strictly(contest, fixtures, pool)

    with ungrouped():
        return anyio.run(play)


async def played_strictly(
    contest: Contest, fixtures: Sequence[Fixture], pool: Pool
) -> list[Outcome]:
    """Play the fixtures strictly in a worker pool that is already open; otherwise the same as `play_strictly`."""
    batch = replace(contest.batch(fixtures, ()), alone=True, checks=())
    return await play_batch(contest, batch, fixtures, pool)


def prove_about(
    statement: str, setting: Setting, library: dict[str, str], limits: Limits, report: Say
) -> Answer:
    """Return whether a statement about programs is provable. `library` holds the sources of the programs by name.

    Raises `UsageError` for a statement that cannot be understood, and `WorkerLost` if the worker dies.
    """

    async def ask() -> Answer:
        async with workers(await image_ready(report), 1, limits) as pool:
            return await prove(statement, setting, library, limits, pool)

    with ungrouped():
        return anyio.run(ask)
