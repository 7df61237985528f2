"""Group commit: items that many tasks submit at about the same time are written and made durable together."""

from collections.abc import Callable, Sequence
from typing import Any

import anyio
from anyio import CancelScope, to_thread

LINGER = 0.02
"""Seconds that a batch waits for further items. This is short compared with a model call and long compared with a
single commit."""


class GroupCommit:
    """Writes items in batches, one after the other. Items that arrive while a batch is written form the next batch.

    `write` is called in a thread with the items of a batch. If it raises an exception, every task that has an item in
    the batch raises that exception.
    """

    def __init__(self, write: Callable[[Sequence[Any]], None]) -> None:
        self._write = write
        self._open = _Batch()
        self._turn = anyio.Lock()

    async def put(self, item: Any) -> None:
        """Write the item and return once it is written. A cancelled task still finishes this, so no item is lost."""
        batch = self._open
        batch.items.append(item)
        with CancelScope(shield=True):
            if len(batch.items) == 1:
                await self._commit(batch)
            await batch.done.wait()
        if batch.failure is not None:
            raise batch.failure

    async def _commit(self, batch: "_Batch") -> None:
        """Write the batch after the batches before it. Until then, other tasks can add items to it."""
        async with self._turn:
            await anyio.sleep(LINGER)
            self._open = _Batch()
            try:
                await to_thread.run_sync(self._write, batch.items)
            except Exception as error:
                batch.failure = error
            batch.done.set()


class _Batch:
    """Items that are written together, and the exception if writing failed."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.done = anyio.Event()
        self.failure: Exception | None = None
