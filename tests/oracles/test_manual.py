"""The manual oracle, with which a person answers through files."""

from pathlib import Path

import anyio
import pytest

from tests.oracles.server import CODE
from tournament.errors import UsageError
from tournament.oracles.manual import Manual
from tournament.oracles.oracle import Answer, Call, Message
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_oracle, make_services

CALL = Call("write", (Message("system", "You write."), Message("user", "One, \u00fc.")), "d", "c/0")


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def answer_file(prompt: Path) -> Path:
    return prompt.with_name(prompt.name.replace(".prompt.", ".answer."))


def test_the_prompt_is_written_to_one_file_and_the_answer_read_from_another(tmp_path: Path) -> None:
    folder, printed = tmp_path / "services" / "one", []

    async def run() -> Answer:
        oracle = Manual(folder, printed.append, poll=0.05)
        answers = []

        async def ask() -> None:
            answers.append(await oracle.ask(CALL))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.sleep(0.1)
            [prompt] = files(folder)
            assert prompt.read_text() == "You write.\n\nOne, \u00fc.\n"
            assert printed == [
                f"paste {prompt} into a chat, and save the reply as {answer_file(prompt)}"
            ]
            answer_file(prompt).write_text(" \n")
            await anyio.sleep(0.2)
            assert not answers, "a blank file is not an answer"
            half = len(CODE) // 2
            answer_file(prompt).write_text(CODE[:half])
            await anyio.sleep(0.02)
            answer_file(prompt).write_text(CODE)
        return answers[0]

    answer = anyio.run(run)
    assert answer.text == CODE
    assert (answer.model, answer.cost, answer.input_tokens) == ("manual", None, None)


def test_an_answer_file_from_an_earlier_session_is_used(tmp_path: Path) -> None:
    async def run() -> None:
        oracle = Manual(tmp_path, poll=0.01)
        with anyio.move_on_after(0.1):
            await oracle.ask(CALL)
        [prompt] = files(tmp_path)
        answer_file(prompt).write_bytes(b"\xef\xbb\xbfyes \xff")
        assert (await Manual(tmp_path, poll=0.01).ask(CALL)).text == "yes \ufffd"

    anyio.run(run)


def test_every_call_has_files_of_its_own(tmp_path: Path) -> None:
    async def run() -> None:
        oracle = make_oracle(f"manual:{tmp_path}", make_services(Settings.load()))
        async with anyio.create_task_group() as group:
            for attempt in range(3):
                group.start_soon(
                    oracle.ask, Call("write", CALL.messages, "d", "../../etc", attempt)
                )
            await anyio.sleep(0.1)
            assert len(files(tmp_path)) == 3
            group.cancel_scope.cancel()

    anyio.run(run)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(UsageError, match="this must be a folder, and it is a file"):
            Manual(place)


def test_an_answer_that_ends_inside_its_code_is_not_read_before_it_is_complete(
    tmp_path: Path,
) -> None:
    printed: list[str] = []

    async def run() -> Answer:
        with anyio.move_on_after(0.05):
            await Manual(tmp_path).ask(CALL)
        [prompt] = files(tmp_path)
        answer_file(prompt).write_text(CODE.removesuffix("```"))
        answers = []

        async def ask() -> None:
            answers.append(await Manual(tmp_path, printed.append, poll=0.01).ask(CALL))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await anyio.sleep(0.2)
            assert not answers
            answer_file(prompt).write_text(CODE)
        assert answers[0].text == CODE
        return answers[0]

    anyio.run(run)
    assert len(printed) == 2
    assert "ends inside a block of code" in printed[1]
