"""The recorder, the task that writes to the record while matches are played."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import CancelScope

from tournament.errors import RecordError, RecordRefused, TournamentError
from tournament.match import Fixture, Outcome
from tournament.store import Record, Recorder


def some(table: Any, first: int, number: int = 10) -> list[Outcome]:
    return [table.outcome("a b", (1, 2), repetition=first + k) for k in range(number)]


def fixtures(outcomes: Sequence[Outcome]) -> set[Any]:
    return {outcome.fixture for outcome in outcomes}


def test_everything_that_is_sent_is_committed_and_then_acknowledged(session_of: Any) -> None:
    table = session_of("a b")
    committed: list[Outcome] = []
    batches = 0

    def acknowledge(outcomes: Sequence[Outcome]) -> None:
        nonlocal batches
        assert fixtures(outcomes) <= table.record.played(table.run)
        committed.extend(outcomes)
        batches += 1

    async def play() -> None:
        async def produce(recorder: Recorder, first: int) -> None:
            for start in range(first, first + 500, 10):
                await recorder.send(some(table, start))
            await recorder.send([])

        async with (
            Recorder.open(table.record, table.number, acknowledge) as recorder,
            anyio.create_task_group() as group,
        ):
            for first in (0, 1000, 2000):
                group.start_soon(produce, recorder, first)

    anyio.run(play)
    assert len(committed) == 1500
    assert table.record.played(table.run) == fixtures(committed)
    assert batches < 20


def test_a_few_outcomes_are_committed_soon(session_of: Any) -> None:
    table = session_of("a b")

    async def play() -> None:
        done = anyio.Event()
        async with Recorder.open(table.record, table.number, lambda _: done.set()) as recorder:
            await recorder.send(some(table, 0))
            with anyio.fail_after(5):
                await done.wait()

    anyio.run(play)


def test_outcomes_that_were_sent_are_recorded_when_everything_is_cancelled(session_of: Any) -> None:
    table = session_of("a b")
    sent: list[Outcome] = []

    async def play() -> None:
        with anyio.move_on_after(0.3):
            async with Recorder.open(table.record, table.number) as recorder:
                while True:
                    outcomes = some(table, len(sent))
                    await recorder.send(outcomes)
                    sent.extend(outcomes)
                    await anyio.sleep(0.001)

    anyio.run(play)
    assert sent
    assert table.record.played(table.run) >= fixtures(sent)
    assert len(table.record.played(table.run)) <= len(sent) + 10


@pytest.mark.parametrize("error", [RecordError, RecordRefused])
def test_a_record_that_cannot_be_written_ends_the_block_with_one_error(
    path: Path, error: type[TournamentError]
) -> None:
    Record.open(path).close()

    messages: list[str] = []

    async def play(record: Record) -> None:
        async with Recorder.open(record, 1) as recorder:
            try:
                with CancelScope(shield=True):
                    while True:
                        await recorder.send([Outcome(Fixture(("a",), 0), 1, ("",), (1.0,))])
                        await anyio.sleep(0.01)
            except TournamentError as failure:
                messages.append(str(failure))
                raise

    class Full(Record):
        def append(self, session: int, outcomes: Sequence[Outcome]) -> range:
            raise error("no room")

    with Full.read(path) as record:
        began = time.monotonic()
        with pytest.raises(error, match="no room"):
            anyio.run(play, record)
        assert time.monotonic() - began < 5
    assert messages == [str(error("no room"))]


def test_another_exception_is_raised_unchanged_after_sent_outcomes_are_recorded(
    session_of: Any,
) -> None:
    table = session_of("a b")

    async def play() -> None:
        async with Recorder.open(table.record, table.number) as recorder:
            await recorder.send(some(table, 0))
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        anyio.run(play)
    assert len(table.record.played(table.run)) == 10


def test_sending_after_the_end_is_refused(session_of: Any) -> None:
    table = session_of("a b")

    async def play() -> None:
        async with Recorder.open(table.record, table.number) as recorder:
            pass
        with pytest.raises(RecordError, match="has ended"):
            await recorder.send(some(table, 0))

    anyio.run(play)
