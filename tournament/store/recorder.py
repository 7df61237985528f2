"""The task that writes a record while matches are played."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

from anyio import (
    BrokenResourceError,
    CancelScope,
    CapacityLimiter,
    ClosedResourceError,
    EndOfStream,
    create_memory_object_stream,
    create_task_group,
    move_on_after,
    to_thread,
)

from tournament.errors import RecordError, TournamentError
from tournament.match import Outcome
from tournament.store.database import Record

MOST_ROWS = 1000
"""Matches in a transaction: from here on, more of them make the single match no cheaper."""
MOST_MOVES = 4_000_000
"""Moves in a transaction, where matches are long."""
MOST_SECONDS = 0.5
"""How long an outcome waits for others to be committed with."""
WAITING = 16
"""How many lists of outcomes may wait; whoever sends more waits too."""

Committed = Callable[[Sequence[Outcome]], None]


class Recorder:
    """Takes outcomes from any number of tasks and keeps them, many in one transaction.

    What `send` has taken will be committed, even when the tasks around it are cancelled, and
    `committed` is called with it when it has been. When it cannot be written, everything within
    `open` is cancelled and `open` raises one `RecordError`, or `RecordRefused`.
    """

    def __init__(self, record: Record, sitting: int, committed: Committed) -> None:
        self._record = record
        self._sitting = sitting
        self._committed = committed
        self._failure: TournamentError | None = None
        self._one = CapacityLimiter(1)
        self._give, self._take = create_memory_object_stream[Sequence[Outcome]](WAITING)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, record: Record, sitting: int, committed: Committed = lambda outcomes: None
    ) -> AsyncIterator[Self]:
        """A recorder for a sitting that has begun. On leaving, everything sent is committed."""
        recorder = cls(record, sitting, committed)
        try:
            async with create_task_group() as group:
                group.start_soon(recorder._run)
                with recorder._give:
                    yield recorder
        except BaseExceptionGroup as errors:
            raise recorder._failure or errors.exceptions[0] from None

    async def send(self, outcomes: Sequence[Outcome]) -> None:
        """Hand outcomes over; waits while too many are waiting already."""
        try:
            if outcomes:
                await self._give.send(outcomes)
        except (BrokenResourceError, ClosedResourceError):
            ended = RecordError(f"{self._record.path}: recording has ended")
            raise self._failure or ended from None

    async def _run(self) -> None:
        """Commit until the stream ends. Cancelling does not reach this: it ends the stream."""
        with CancelScope(shield=True), self._take:
            while batch := await self._batch():
                await self._commit(batch)
                self._committed(batch)

    async def _commit(self, batch: Sequence[Outcome]) -> None:
        try:
            await to_thread.run_sync(self._record.append, self._sitting, batch, limiter=self._one)
        except TournamentError as error:
            self._failure = error
            raise

    async def _batch(self) -> list[Outcome]:
        """The outcomes to be committed next; none when the stream has ended."""
        batch: list[Outcome] = []
        with suppress(EndOfStream):
            batch += await self._take.receive()
            moves = _moves(batch)
            with move_on_after(MOST_SECONDS):
                while len(batch) < MOST_ROWS and moves < MOST_MOVES:
                    more = await self._take.receive()
                    batch += more
                    moves += _moves(more)
        return batch


def _moves(outcomes: Sequence[Outcome]) -> int:
    return sum(len(moves) for outcome in outcomes for moves in outcome.moves)
