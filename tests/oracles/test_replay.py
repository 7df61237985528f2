"""A run is repeated from its record, byte for byte, and what differs is shown."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from tournament.errors import RecordError, UsageError
from tournament.oracles.ledger import FileJournal, entries
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message, PromptDiffers
from tournament.oracles.replay import Replay
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_desk, make_oracle


def a_call(step: int, text: str = "Write one.\nNow.", **more: object) -> Call:
    call = Call(
        "write", (Message("system", "You write."), Message("user", text)), "digest", f"chain/{step}"
    )
    return replace(call, **more)


def ask(oracle: Replay, call: Call) -> Answer:
    return anyio.run(oracle.ask, call)


def test_answers_are_those_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    answers = [
        Answer("a\r\n\u2028 \x00", CallOutcome.NO_CODE, "m", "stop", 3, seconds=1.25, key="1"),
        Answer("", CallOutcome.TIMEOUT, "m", detail="no answer", key="2"),
        Answer("later", key="2"),
    ]

    async def run() -> None:
        journal = FileJournal.open(path)
        for step, answer in enumerate(answers):
            await journal.keep(answer.key, a_call(min(step, 1)), answer)
        journal.close()
        oracle = make_oracle(f"replay:{path}", make_desk(Settings.load()))
        for step, answer in ((0, answers[0]), (1, answers[2])):
            again = await oracle.ask(a_call(step))
            assert again.text == answer.text
            assert again.seconds == answer.seconds
            assert again.cached
        await oracle.aclose()

    anyio.run(run)
    assert len(list(entries(path))) == 3


def test_a_failure_is_repeated_too() -> None:
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


def test_a_call_at_another_place_is_compared_with_the_nearest() -> None:
    oracle = Replay((a_call(k, f"Write number {k}.\nNow."), Answer(str(k))) for k in range(3))
    with pytest.raises(PromptDiffers, match="no such call; the nearest is chain/1, attempt 0"):
        ask(oracle, a_call(7, "Write number 1.\nNow."))
    with pytest.raises(PromptDiffers, match="no such call"):
        ask(oracle, a_call(1, purpose="critique"))
    with pytest.raises(PromptDiffers, match="its template is not the recorded one"):
        ask(oracle, a_call(1, "Write number 1.\nNow.", prompt="other"))
    with pytest.raises(PromptDiffers, match="no such call"):
        ask(Replay([]), a_call(1))


def test_long_differences_are_cut() -> None:
    lines = "\n".join(map(str, range(1000)))
    oracle = Replay([(a_call(0, lines), Answer(""))])
    with pytest.raises(PromptDiffers) as caught:
        ask(oracle, a_call(0, lines.replace("0", "zero").replace("1", "one")))
    assert 150 < len(str(caught.value).splitlines()) < 250
    assert "lines more" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.jsonl"):
        make_oracle(f"replay:{tmp_path / 'none.jsonl'}", make_desk(Settings.load()))
