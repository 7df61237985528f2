"""Hostile programs in the real, locked worker: what they come to, and that nothing else happens."""

import select
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import pytest

from tests.batches import LITTLE, batch_of, match_of
from tests.sandbox.hostile import HOSTILE
from tournament.engine.batch import Batch, Played
from tournament.engine.run import workers
from tournament.errors import WorkerLost
from tournament.sandbox.image import Image
from tournament.sandbox.pool import Pool

VICTIM = 'def act(view):\n    return "CDD"[len(view.mine) % 3]\n'
OTHER = """
import random

def act(view):
    return random.choice("CD") if view.mine else view.them.source[0].upper()[:0] + "D"
"""
EXPECTED = "011"


@dataclass
class Damage:
    """What a program came to: strictly twice, and in a batch beside a match between others."""

    first: Played
    second: Played
    beside: Batch
    together: Played


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which workers start, for programs that try to leave something there."""
    folder = tmp_path_factory.mktemp("work")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """A socket for programs that try to reach one."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


@pytest.fixture(scope="module")
def damages(image: Image, folder: Path, listener: socket.socket) -> dict[str, Damage | WorkerLost]:
    """All programs, played one after the other in one worker."""

    async def damage(pool: Pool, source: str) -> Damage:
        async def played(batch: Batch) -> Played:
            return await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))

        alone = batch_of([source, VICTIM], alone=True)
        beside = batch_of([source, VICTIM], [VICTIM, OTHER], [OTHER, source])
        return Damage(await played(alone), await played(alone), beside, await played(beside))

    async def main() -> dict[str, Damage | WorkerLost]:
        damages: dict[str, Damage | WorkerLost] = {}
        async with workers(image, 1, LITTLE) as pool:
            for name, (_, source) in HOSTILE.items():
                source = source.replace("PORT", str(listener.getsockname()[1]))
                try:
                    damages[name] = await damage(pool, source)
                except WorkerLost as lost:
                    damages[name] = lost
        return damages

    return anyio.run(main)


@pytest.fixture(scope="module")
def undisturbed(image: Image) -> tuple[object, ...]:
    """The match between others, when nobody hostile is near."""

    async def main() -> tuple[object, ...]:
        batch = batch_of([VICTIM, OTHER])
        async with workers(image, 1, LITTLE) as pool:
            played = await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))
        return match_of(batch, played, 0)

    return anyio.run(main)


@pytest.fixture
def damage(request: pytest.FixtureRequest, damages: dict[str, Damage | WorkerLost]) -> Damage:
    """What the program of the test came to."""
    found = damages[request.param]
    assert isinstance(found, Damage), found
    return found


each = pytest.mark.parametrize("damage", HOSTILE, indirect=True)
each_with_its_fault = pytest.mark.parametrize(
    ("damage", "kind"), [(name, kind) for name, (kind, _) in HOSTILE.items()], indirect=["damage"]
)


@each_with_its_fault
def test_a_hostile_program_comes_to_its_fault_or_to_nothing(
    damage: Damage, kind: str | None
) -> None:
    fault = damage.first.faults.get(0)
    assert (fault and fault.kind) == kind
    assert 1 not in damage.first.faults


@each
def test_strict_play_of_a_hostile_program_is_the_same_twice_and_so_is_its_fuel(
    damage: Damage,
) -> None:
    assert damage.first == damage.second
    assert all(0 < fuel <= 4 * LITTLE.fuel for fuel in damage.first.fuel)


@each
def test_who_plays_a_hostile_program_plays_as_ever(damage: Damage) -> None:
    assert EXPECTED.startswith(damage.first.moves[1])
    assert len(damage.first.moves[1]) == (3 if not damage.first.faults else 0)


@each
def test_a_match_beside_a_hostile_program_is_played_as_without_it(
    damage: Damage, undisturbed: tuple[object, ...]
) -> None:
    assert match_of(damage.beside, damage.together, 1) == undisturbed


@each
def test_fast_play_of_a_hostile_program_is_strict_play(damage: Damage) -> None:
    alone = batch_of([HOSTILE["nothing"][1], VICTIM], alone=True)
    assert match_of(damage.beside, damage.together, 0) == match_of(alone, damage.first, 0)


def test_nothing_is_left_behind_and_nobody_was_called(
    damages: dict[str, Damage | WorkerLost], folder: Path, listener: socket.socket
) -> None:
    assert list(folder.iterdir()) == []
    assert select.select([listener], [], [], 0)[0] == []
