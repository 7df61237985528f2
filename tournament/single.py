"""Matches outside a tournament: played strictly, every seat in an instance of its own, and not recorded."""

from collections.abc import Sequence
from dataclasses import replace

import anyio

from tournament.engine.batch import Played
from tournament.engine.run import Contest, workers
from tournament.engine.settle import outcomes
from tournament.match import Fixture, Outcome
from tournament.sandbox.image import Say, prepare


def play_strictly(contest: Contest, fixtures: Sequence[Fixture], say: Say) -> list[Outcome]:
    """The outcomes of these fixtures, in order. Raises `WorkerLost` if the sandbox fails."""
    return anyio.run(_play_strictly, [(contest, fixtures)], say)[0]


def play_each_strictly(
    work: Sequence[tuple[Contest, Sequence[Fixture]]], say: Say
) -> list[list[Outcome]]:
    """The outcomes of several contests, in one worker."""
    return anyio.run(_play_strictly, work, say)


async def _play_strictly(
    work: Sequence[tuple[Contest, Sequence[Fixture]]], say: Say
) -> list[list[Outcome]]:
    image = prepare(say)
    limits = work[0][0].limits
    results = []
    async with workers(image, 1, limits) as pool:
        for contest, fixtures in work:
            batch = replace(contest.batch(fixtures, ()), alone=True, checks=())
            played = Played.decoded(await pool.call(batch.encoded()))
            results.append(outcomes(contest.setting, batch, fixtures, played))
    return results
