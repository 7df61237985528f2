"""Matches outside a tournament: played strictly, every seat in an instance of its own, and not recorded."""

from collections.abc import Sequence
from dataclasses import replace

import anyio

from tournament.engine.run import Contest, play_batch, workers
from tournament.errors import ungrouped
from tournament.match import Fixture, Outcome
from tournament.sandbox.image import Say
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready


def play_strictly(contest: Contest, fixtures: Sequence[Fixture], say: Say) -> list[Outcome]:
    """The outcomes of these fixtures, in order. Raises `WorkerLost` if the sandbox fails."""

    async def play() -> list[Outcome]:
        image, games = await image_ready(say), [contest.setting.game]
        async with workers(image, 1, contest.limits, games) as pool:
            return await played_strictly(contest, fixtures, pool)

    with ungrouped():
        return anyio.run(play)


async def played_strictly(
    contest: Contest, fixtures: Sequence[Fixture], pool: Pool
) -> list[Outcome]:
    """The same, in a pool that is open."""
    batch = replace(contest.batch(fixtures, ()), alone=True, checks=())
    return await play_batch(contest, batch, fixtures, pool)
