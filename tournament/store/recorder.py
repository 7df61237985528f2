"""The task that writes a record while matches are played."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Self

import anyio
from anyio import to_thread

from tournament.errors import RecordError, TournamentError
from tournament.match import Outcome
from tournament.store.database import Record

MOST_ROWS = 1000
"""After so many matches a transaction is committed. Larger ones would not make a single match cheaper."""
MOST_MOVES = 4_000_000
"""After so many moves a transaction is committed. This limit matters when matches are long."""
MOST_SECONDS = 0.5
"""How many seconds an outcome waits for others that can be committed in the same transaction."""
WAITING = 16
"""How many lists of outcomes may wait. A task that sends another list must wait until there is room."""

Committed = Callable[[Sequence[Outcome]], None]


class Recorder:
    """Receives outcomes from any number of tasks and stores them, many in one transaction.

    Outcomes that `send` has accepted are committed even if the tasks around it are cancelled, and
    `committed` is called with them afterwards. If they cannot be written, everything within `open`
    is cancelled, and `open` raises a single `RecordError` or `RecordRefused`.
    """

    def __init__(self, record: Record, session: int, committed: Committed) -> None:
        self._record = record
        self._session = session
        self._committed = committed
        self._failure: TournamentError | None = None
        self._one = anyio.CapacityLimiter(1)
        self._give, self._take = anyio.create_memory_object_stream[Sequence[Outcome]](WAITING)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, record: Record, session: int, committed: Committed = lambda outcomes: None
    ) -> AsyncIterator[Self]:
        """Yield a recorder for a session that has begun. Everything sent is committed before this returns."""
        recorder = cls(record, session, committed)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(recorder._run)
                with recorder._give:
                    yield recorder
        except BaseExceptionGroup as errors:
            raise recorder._failure or errors.exceptions[0] from None

    async def send(self, outcomes: Sequence[Outcome]) -> None:
        """Pass outcomes to the recorder. Waits while `WAITING` lists are in the queue.

        Raises the error that ended the recording, or `RecordError`, if the recorder takes no more.
        """
        try:
            if outcomes:
                await self._give.send(outcomes)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            ended = RecordError(f"{self._record.path}: recording has ended")
            raise self._failure or ended from None

    async def _run(self) -> None:
        """Commit batches until the stream ends.

        Cancellation does not interrupt this. It ends `open`, which closes the stream, and this method
        then stops after committing what is left.
        """
        with anyio.CancelScope(shield=True), self._take:
            while batch := await self._batch():
                await self._commit(batch)
                self._committed(batch)

    async def _commit(self, batch: Sequence[Outcome]) -> None:
        try:
            await to_thread.run_sync(self._record.append, self._session, batch, limiter=self._one)
        except TournamentError as error:
            self._failure = error
            raise

    async def _batch(self) -> list[Outcome]:
        """Return the outcomes to be committed next, or an empty list when the stream has ended."""
        batch: list[Outcome] = []
        with suppress(anyio.EndOfStream):
            batch += await self._take.receive()
            moves = _moves(batch)
            with anyio.move_on_after(MOST_SECONDS):
                while len(batch) < MOST_ROWS and moves < MOST_MOVES:
                    more = await self._take.receive()
                    batch += more
                    moves += _moves(more)
        return batch


def _moves(outcomes: Sequence[Outcome]) -> int:
    """Return how many moves these outcomes have over all seats."""
    return sum(len(moves) for outcome in outcomes for moves in outcome.moves)
