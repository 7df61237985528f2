"""Group commit: what many tasks hand in at the same time is written, and made durable, at once."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import anyio
from anyio import CancelScope, to_thread

T = TypeVar("T")

LINGER = 0.02
"""Seconds for which a batch waits for others to join: little beside a call to a model, much beside a commit."""


class GroupCommit(Generic[T]):
    """Writes items in batches, one batch after the other; what comes while one is written makes up the next.

    `write` is called in a thread. What it raises is raised to all whose items were in the batch.
    """

    def __init__(self, write: Callable[[Sequence[T]], None]) -> None:
        self._write = write
        self._open = _Batch[T]()
        self._turn = anyio.Lock()

    async def put(self, item: T) -> None:
        """Return once the item is written: also when the task is cancelled, so that no item is lost."""
        batch = self._open
        batch.items.append(item)
        with CancelScope(shield=True):
            if len(batch.items) == 1:
                await self._commit(batch)
            await batch.done.wait()
        if batch.failure is not None:
            raise batch.failure

    async def _commit(self, batch: "_Batch[T]") -> None:
        """Write the batch when its turn has come; until then others join it."""
        async with self._turn:
            await anyio.sleep(LINGER)
            self._open = _Batch()
            try:
                await to_thread.run_sync(self._write, batch.items)
            except Exception as error:
                batch.failure = error
            batch.done.set()


class _Batch(Generic[T]):
    """Items that are written together."""

    def __init__(self) -> None:
        self.items: list[T] = []
        self.done = anyio.Event()
        self.failure: Exception | None = None
