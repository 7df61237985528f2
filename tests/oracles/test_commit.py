"""Group commit writes many items in few batches, loses none, and reports a failure to the tasks of its batch only."""

import time
from collections.abc import Sequence

import anyio
import pytest

from tournament.oracles.commit import GroupCommit


class Disk:
    """A disk that needs the same short time for any batch, and fails for a batch with the item `bad`."""

    def __init__(self, bad: int | None = None) -> None:
        self.batches: list[list[int]] = []
        self.bad = bad

    def write(self, items: Sequence[int]) -> None:
        time.sleep(0.01)
        if self.bad in items:
            raise OSError("disk full")
        self.batches.append(list(items))

    @property
    def written(self) -> list[int]:
        """All items that were written, in order."""
        return [item for batch in self.batches for item in batch]


def put_all(disk: Disk, count: int, pause: float = 0.0) -> list[int]:
    """Put items one after the other without waiting; return those that were put without an error."""
    done: list[int] = []

    async def put(group: GroupCommit, item: int) -> None:
        try:
            await group.put(item)
            assert item in disk.written
            done.append(item)
        except OSError as error:
            assert str(error) == "disk full"

    async def run() -> None:
        group = GroupCommit(disk.write)
        async with anyio.create_task_group() as tasks:
            for item in range(count):
                tasks.start_soon(put, group, item)
                await anyio.sleep(pause)

    anyio.run(run)
    return done


def test_items_that_arrive_together_are_written_together_and_once() -> None:
    disk = Disk()
    assert sorted(put_all(disk, 500)) == list(range(500))
    assert disk.written == list(range(500))
    assert len(disk.batches) < 5


def test_items_that_arrive_while_a_batch_is_written_form_the_next_batch() -> None:
    disk = Disk()
    assert sorted(put_all(disk, 100, pause=0.001)) == list(range(100))
    assert disk.written == list(range(100))
    assert 1 < len(disk.batches) < 50


def test_a_failure_is_raised_only_for_the_items_of_its_batch() -> None:
    disk = Disk(bad=0)
    done = put_all(disk, 100, pause=0.001)
    assert 0 not in done
    assert sorted(done) == disk.written
    assert done


@pytest.mark.parametrize("item", [0, 1])
def test_an_item_is_written_even_if_its_task_is_cancelled(item: int) -> None:
    disk = Disk()

    async def run() -> None:
        group = GroupCommit(disk.write)
        async with anyio.create_task_group() as tasks:
            for each in range(2):
                tasks.start_soon(group.put, each)
            await anyio.sleep(0.001)
            tasks.cancel_scope.cancel()

    anyio.run(run)
    assert item in disk.written
