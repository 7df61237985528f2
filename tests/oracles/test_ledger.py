"""Every call is recorded before its answer is used, and is paid for once."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import from_thread

import tournament.oracles
from tests.oracles.server import CODE, Does, completion, in_turn, serve
from tournament.errors import RecordError
from tournament.evolve.journal import RecordJournal
from tournament.oracles.ledger import Ledger, from_line, to_line
from tournament.oracles.limits import Spending
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_oracle, make_services
from tournament.store import Record

CALL = Call("write", (Message("system", "s"), Message("user", "u")), "digest", "chain/0", 1)
ANSWER = Answer(
    CODE, CallOutcome.OK, "m", "stop", 3, 4, Decimal("0.000012"), 1.5, "so", 2, "key", False
)


class Scripted:
    """An oracle that gives its answers in turn and counts the calls."""

    def __init__(self, *answers: Answer, seconds: float = 0.0, **identity: object) -> None:
        self.answers = answers or (Answer(CODE),)
        self.seconds = seconds
        self.asked: list[Call] = []
        self._identity = identity or {"model": "scripted"}

    @property
    def identity(self) -> Mapping[str, object]:
        return self._identity

    async def ask(self, call: Call) -> Answer:
        self.asked.append(call)
        await anyio.sleep(self.seconds)
        return self.answers[min(len(self.asked), len(self.answers)) - 1]

    async def aclose(self) -> None:
        pass


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "record.duckdb"


def ask(path: Path, oracle: Scripted, *calls: Call) -> list[Answer]:
    """Return the answers to calls made through a ledger, whose record is opened for these calls."""

    async def run() -> list[Answer]:
        with Record.open(path) as record:
            ledger = Ledger(oracle, RecordJournal(record, 1))
            return [await ledger.ask(call) for call in calls]

    return anyio.run(run)


def entries(path: Path) -> list[tuple[Call, Answer]]:
    """Return the calls on record with their answers."""
    with Record.read(path) as record:
        return [from_line(line) for line in record.call_lines()]


def test_a_line_is_read_as_it_was_written() -> None:
    for answer in (ANSWER, Answer("\ud800\u2028\0", CallOutcome.TIMEOUT)):
        line = to_line(CALL, answer)
        assert line.count("\n") == 1
        assert from_line(line) == (CALL, answer)


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("answer", "cost", "dear"),
        ("answer", "cost", [1]),
        ("answer", "taken", {"calls": 1}),
        ("answer", "outcome", "unheard of"),
        ("call", "messages", [{"role": "user"}]),
        ("call", "messages", None),
    ],
)
def test_a_line_of_another_form_is_an_error_of_the_record(
    part: str, key: str, value: object
) -> None:
    data = json.loads(to_line(CALL, ANSWER))
    data[part][key] = value
    for line in (json.dumps(data), "[]", "{}", '{"call": 1, "answer": 2}', "nonsense"):
        with pytest.raises(RecordError, match="cannot be read"):
            from_line(line)


def test_what_later_versions_add_is_passed_over() -> None:
    data = json.loads(to_line(CALL, ANSWER))
    data["call"]["new"] = data["answer"]["new"] = 1
    assert from_line(json.dumps(data)) == (CALL, ANSWER)


def test_a_call_is_made_once_and_its_answer_stays_the_same(path: Path) -> None:
    oracle = Scripted(ANSWER)
    [first, second] = ask(path, oracle, CALL, CALL)
    [third] = ask(path, oracle, CALL)
    assert len(oracle.asked) == 1
    assert not first.cached
    assert second == third == replace(first, cached=True)
    assert len(first.key) == 64
    assert [answer for _, answer in entries(path)] == [first]


DIFFERENT = {
    "prompt": replace(CALL, messages=(Message("user", "u2"),)),
    "role": replace(CALL, messages=(Message("user", "s"), Message("user", "u"))),
    "template": replace(CALL, prompt="other"),
    "sample": replace(CALL, key="chain/1"),
    "attempt": replace(CALL, attempt=2),
    "purpose": replace(CALL, purpose="rewrite"),
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT)
def test_a_call_that_differs_in_anything_is_made(path: Path, other: Call) -> None:
    oracle = Scripted()
    ask(path, oracle, CALL, other)
    assert oracle.asked == [CALL, other]


@pytest.mark.parametrize("field", ["model", "base_url", "temperature", "max_tokens"])
def test_a_call_to_another_model_or_with_other_sampling_is_made(path: Path, field: str) -> None:
    settings = {"model": "m", "base_url": "http://a", "temperature": 0.5, "max_tokens": 10}
    one, other = Scripted(**settings), Scripted(**settings | {field: 1})
    ask(path, one, CALL)
    ask(path, other, CALL)
    assert other.asked == [CALL]


def test_the_outcome_says_whether_the_answer_has_a_program(path: Path) -> None:
    prose = Answer("I would cooperate.")
    two = f"{CODE}\n{CODE}"
    calls = [replace(CALL, attempt=k) for k in range(4)]
    calls[2] = replace(CALL, purpose="critique")
    answers = ask(path, Scripted(prose, Answer(two), prose), *calls[:3])
    assert [a.outcome for a in answers] == [
        CallOutcome.NO_CODE,
        CallOutcome.SEVERAL_BLOCKS,
        CallOutcome.OK,
    ]
    assert answers[0].detail


def test_half_a_program_is_recorded_but_never_used(path: Path) -> None:
    half = Answer("```python\ndef act(view):\n    ret", CallOutcome.TRUNCATED, finish="length")
    oracle = Scripted(half)
    answers = ask(path, oracle, CALL, CALL)
    assert {a.outcome for a in answers} == {CallOutcome.TRUNCATED}
    assert len(oracle.asked) == 1


@pytest.mark.parametrize(
    "outcome", [o for o in CallOutcome if not o.answered], ids=lambda outcome: str(outcome)
)
def test_a_call_without_an_answer_is_recorded_and_made_again(
    path: Path, outcome: CallOutcome
) -> None:
    oracle = Scripted(Answer("", outcome), ANSWER)
    [failed] = ask(path, oracle, CALL)
    assert failed.outcome is outcome
    [answered, again] = ask(path, oracle, CALL, CALL)
    assert answered.outcome is CallOutcome.OK
    assert again.cached
    assert [answer.outcome for _, answer in entries(path)] == [CallOutcome.OK]


def test_the_cost_of_earlier_tries_is_added(path: Path) -> None:
    took = Spending(1, 10, Decimal("0.5"))
    oracle = Scripted(Answer("", CallOutcome.TIMEOUT, taken=took), replace(ANSWER, taken=took))
    ask(path, oracle, CALL)
    [answer] = ask(path, oracle, CALL)
    assert answer.taken == took + took
    assert entries(path) == [(CALL, answer)]


def test_two_equal_calls_at_once_share_one_answer(path: Path) -> None:
    oracle = Scripted(seconds=0.05)

    async def run() -> None:
        with Record.open(path) as record:
            ledger = Ledger(oracle, RecordJournal(record, 1))
            async with anyio.create_task_group() as group:
                for _ in range(10):
                    group.start_soon(ledger.ask, CALL)

    anyio.run(run)
    assert len(oracle.asked) == 1


def test_an_answer_that_has_arrived_is_recorded_even_if_everything_is_cancelled(path: Path) -> None:
    arrived = anyio.Event()

    class Slow(Record):
        def keep_calls(self, calls: Sequence[Mapping[str, Any]]) -> None:
            from_thread.run_sync(arrived.set)
            time.sleep(0.1)
            super().keep_calls(calls)

    async def run() -> None:
        with Slow.open(path) as record:
            async with serve() as server, anyio.create_task_group() as group:
                settings = Settings.load(base_url=server.url)
                services = make_services(settings, RecordJournal(record, 1))
                oracle = make_oracle("chat:m", services)
                group.start_soon(oracle.ask, CALL)
                await arrived.wait()
                group.cancel_scope.cancel()
            await oracle.aclose()

    anyio.run(run)
    assert [answer.outcome for _, answer in entries(path)] == [CallOutcome.OK]


def test_a_record_that_cannot_be_written_raises_in_all_waiting_calls(path: Path) -> None:
    failed: list[str] = []

    async def run() -> None:
        with Record.open(path) as record:
            journal = RecordJournal(record, 1)

            async def keep(attempt: int) -> None:
                try:
                    await Ledger(Scripted(), journal).ask(replace(CALL, attempt=attempt))
                except RecordError as error:
                    failed.append(str(error))

            record.close()
            async with anyio.create_task_group() as group:
                for attempt in range(3):
                    group.start_soon(keep, attempt)

    anyio.run(run)
    assert len(failed) == 3


KILLED = """
import sys, anyio
from pathlib import Path
from tournament.evolve.journal import RecordJournal
from tournament.oracles.oracle import Call, Message
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_services, make_oracle
from tournament.store import Record

async def main(record):
    settings = Settings.load(base_url=sys.argv[1], concurrency=4)
    oracle = make_oracle("chat:m", make_services(settings, RecordJournal(record, 1)))

    async def ask(number):
        answer = await oracle.ask(Call("write", (Message("user", f"call {number}"),), "d", str(number)))
        print(number, answer.outcome, flush=True)

    async with anyio.create_task_group() as group:
        for number in range(60):
            group.start_soon(ask, number)
    await oracle.aclose()

with Record.open(Path(sys.argv[2])) as record:
    anyio.run(main, record)
"""


def test_a_call_whose_answer_was_used_is_not_made_again_after_a_kill(path: Path) -> None:
    """The process is killed at several moments and then runs to its end. Only calls in progress are made again."""
    checkout = str(Path(tournament.oracles.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": checkout}

    async def start(url: str) -> "anyio.abc.Process":
        command = [sys.executable, "-c", KILLED, url, str(path)]
        return await anyio.open_process(
            command, stdout=subprocess.PIPE, env=environment, stderr=None
        )

    async def run() -> None:
        used: set[str] = set()
        async with serve(Does(delay=0.02)) as server:
            for lines in (3, 20, 1000):
                before = len(server.asked)
                received = b""
                async with await start(server.url) as child:
                    assert child.stdout is not None
                    async for chunk in child.stdout:
                        received += chunk
                        if received.count(b"\n") >= lines:
                            os.kill(child.pid, signal.SIGKILL)
                            break
                asked = {body["messages"][0]["content"] for body in server.asked[before:]}
                assert not asked & {f"call {number}" for number in used}
                used |= {line.split()[0] for line in received.decode().split("\n")[:-1]}
                assert used <= {call.key for call, _ in entries(path)}
        assert len(entries(path)) == 60

    anyio.run(run)


def test_no_key_is_written_to_the_record(path: Path) -> None:
    key = "sk-secret-0123456789"

    async def run() -> None:
        replies = (Does(completion(f"{CODE} {key}")), Does({"error": {"message": key}}, status=401))
        async with serve(in_turn(*replies)) as server:
            settings = Settings.load(base_url=server.url, api_key=key)
            with Record.open(path) as record:
                services = make_services(settings, RecordJournal(record, 1))
                oracle = make_oracle("chat:m", services)
                for attempt in range(2):
                    await oracle.ask(replace(CALL, attempt=attempt))
                await oracle.aclose()

    anyio.run(run)
    assert len(entries(path)) == 2
    assert b"sk-" not in path.read_bytes()


def test_without_a_journal_every_call_is_made() -> None:
    async def run() -> None:
        oracle = Scripted()
        ledger = Ledger(oracle)
        await ledger.ask(CALL)
        await ledger.ask(CALL)
        assert len(oracle.asked) == 2

    anyio.run(run)
