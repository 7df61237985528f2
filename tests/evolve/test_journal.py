"""Calls to models are committed to the record before their answers are used, many at once, and are found again."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

from tournament.evolve.journal import RecordJournal
from tournament.oracles.ledger import Ledger, from_line
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message
from tournament.store import Record

CALL = Call("critique", (Message("user", "What is wrong?"),), "digest", "chain/0")
SEVERAL = 300


class Scripted:
    """A model that answers every call and counts the calls."""

    def __init__(self, outcome: CallOutcome = CallOutcome.OK, cost: Decimal | None = None) -> None:
        self.identity = {"model": "scripted"}
        self.outcome = outcome
        self.cost = cost
        self.asked = 0

    async def ask(self, call: Call) -> Answer:
        self.asked += 1
        text = f"answer {call.attempt}"
        return Answer(text, self.outcome, "scripted", input_tokens=7, cost=self.cost)

    async def aclose(self) -> None:
        """Do nothing, since nothing is open."""


def ask_many(record: Record, oracle: Scripted, count: int = SEVERAL) -> dict[int, Answer]:
    answers: dict[int, Answer] = {}

    async def run() -> None:
        ledger = Ledger(oracle, RecordJournal(record, 1))

        async def ask(attempt: int) -> None:
            answers[attempt] = await ledger.ask(replace(CALL, attempt=attempt))

        async with anyio.create_task_group() as group:
            for attempt in range(count):
                group.start_soon(ask, attempt)

    anyio.run(run)
    return answers


def test_many_answers_at_once_are_committed_together_and_found_again(tmp_path: Path) -> None:
    transactions: list[int] = []

    class Counting(Record):
        def keep_calls(self, calls: list[dict[str, object]]) -> None:  # type: ignore[override]
            transactions.append(len(calls))
            super().keep_calls(calls)

    oracle = Scripted()
    with Counting.open(tmp_path / "r.duckdb") as record:
        first = ask_many(record, oracle)
    assert sum(transactions) == SEVERAL and len(transactions) < 10
    with Record.open(tmp_path / "r.duckdb") as record:
        again = ask_many(record, oracle)
        lines = record.call_lines()
    assert oracle.asked == len(lines) == SEVERAL
    assert all(answer.cached for answer in again.values())
    assert {n: replace(a, cached=False) for n, a in again.items()} == first
    assert {answer.text for _, answer in map(from_line, lines)} == {a.text for a in first.values()}


def test_an_answer_replaces_a_recorded_failure(tmp_path: Path) -> None:
    with Record.open(tmp_path / "r.duckdb") as record:
        for outcome in (CallOutcome.TIMEOUT, CallOutcome.OK):
            ask_many(record, Scripted(outcome), 3)
        rows = record.sql("select outcome, count(*) from calls group by outcome")[1]
    assert rows == [("ok", 3)]


def test_an_unknown_price_is_recorded_as_null(tmp_path: Path) -> None:
    with Record.open(tmp_path / "r.duckdb") as record:
        ask_many(record, Scripted(), 1)
        assert record.sql("select cost, output_tokens from calls")[1] == [(None, None)]
    with Record.open(tmp_path / "s.duckdb") as record:
        ask_many(record, Scripted(cost=Decimal("0.25")), 1)
        assert record.sql("select cost from calls")[1] == [(0.25,)]


@pytest.mark.parametrize("outcome", CallOutcome)
def test_spending_counts_bad_answers_as_failures_and_leaves_out_calls_that_were_not_sent(
    tmp_path: Path, outcome: CallOutcome
) -> None:
    with Record.open(tmp_path / "r.duckdb") as record:
        ask_many(record, Scripted(outcome), 2)
        counts = record.sql("select calls, failures from spending")[1]
    made = [] if outcome is CallOutcome.BUDGET else [(2, 0 if outcome.good else 2)]
    assert counts == made


def test_of_two_calls_with_one_key_in_a_batch_the_last_is_kept(tmp_path: Path) -> None:
    with Record.open(tmp_path / "r.duckdb") as record:
        journal = RecordJournal(record, 1)

        async def run() -> None:
            async with anyio.create_task_group() as group:
                for text in ("one", "two"):
                    group.start_soon(journal.keep, "key", CALL, Answer(text, key="key"))
            found = await journal.find("key")
            assert found is not None and found.text == "two"

        anyio.run(run)
