"""The replay oracle repeats a run from its record, byte for byte, and shows where a prompt differs."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tournament.errors import UsageError
from tournament.evolve.journal import RecordJournal
from tournament.oracles.ledger import from_line
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message, PromptDiffers
from tournament.oracles.replay import Replay
from tournament.store import Record


def a_call(step: int, text: str = "Write one.\nNow.", **more: object) -> Call:
    call = Call(
        "write", (Message("system", "You write."), Message("user", text)), "digest", f"chain/{step}"
    )
    return replace(call, **more)


def ask(oracle: Replay, call: Call) -> Answer:
    return anyio.run(oracle.ask, call)


def test_replayed_answers_are_those_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "record.duckdb"
    answers = [
        Answer("a\r\n\u2028 \x00", CallOutcome.NO_CODE, "m", "stop", 3, seconds=1.25, key="1"),
        Answer("", CallOutcome.TIMEOUT, "m", detail="no answer", key="2"),
        Answer("later", key="2"),
    ]

    async def keep(record: Record) -> None:
        journal = RecordJournal(record, 1)
        for step, answer in enumerate(answers):
            await journal.keep(answer.key, a_call(min(step, 1)), answer)

    with Record.open(path) as record:
        anyio.run(keep, record)
        oracle = Replay(map(from_line, record.call_lines()))
    for step, answer in ((0, answers[0]), (1, answers[2])):
        assert ask(oracle, a_call(step)) == replace(answer, cached=True)


def test_a_recorded_failure_is_repeated() -> None:
    oracle = Replay([(a_call(0), Answer("", CallOutcome.TIMEOUT, detail="slow"))])
    assert ask(oracle, a_call(0)).outcome is CallOutcome.TIMEOUT


def test_a_prompt_that_differs_is_shown_beside_the_recorded_one() -> None:
    oracle = Replay((a_call(k, f"Write number {k}.\nNow."), Answer(str(k))) for k in range(9))
    with pytest.raises(PromptDiffers) as caught:
        ask(oracle, a_call(3, "Write number 3.\nThen."))
    assert str(caught.value).splitlines() == [
        "cannot replay write chain/3, attempt 0: its prompt is not the recorded one",
        "--- recorded",
        "+++ asked now",
        "@@ -2,4 +2,4 @@",
        " You write.",
        " [user]",
        " Write number 3.",
        "-Now.",
        "+Then.",
    ]
    assert isinstance(caught.value, UsageError)


def test_a_call_of_an_unknown_step_is_compared_with_the_nearest_one() -> None:
    oracle = Replay((a_call(k, f"Write number {k}.\nNow."), Answer(str(k))) for k in range(3))
    with pytest.raises(PromptDiffers, match="no such call; the nearest is chain/1, attempt 0"):
        ask(oracle, a_call(7, "Write number 1.\nNow."))
    with pytest.raises(PromptDiffers, match="no such call"):
        ask(oracle, a_call(1, purpose="critique"))
    with pytest.raises(PromptDiffers, match="its template is not the recorded one"):
        ask(oracle, a_call(1, "Write number 1.\nNow.", prompt="other"))
    with pytest.raises(PromptDiffers, match="no such call"):
        ask(Replay([]), a_call(1))


def test_a_long_difference_is_cut() -> None:
    lines = "\n".join(map(str, range(1000)))
    oracle = Replay([(a_call(0, lines), Answer(""))])
    with pytest.raises(PromptDiffers) as caught:
        ask(oracle, a_call(0, lines.replace("0", "zero").replace("1", "one")))
    assert 150 < len(str(caught.value).splitlines()) < 250
    assert "lines more" in str(caught.value)
