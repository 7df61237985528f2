"""Asks whoever sits at the keyboard: the prompt goes to a file, and the answer is awaited in another.

For those who have only a chat window, and for people who want to be an oracle themselves.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import anyio

from tournament.errors import UsageError
from tournament.oracles.oracle import Answer, Call, Say, call_key, silent
from tournament.oracles.reply import ends_in_code

POLL_SECONDS = 0.5


class Manual:
    """The oracle. A call has files of its own, named after it, so that an answer given once is found again."""

    def __init__(self, folder: Path, say: Say = silent, poll: float = POLL_SECONDS) -> None:
        self.folder = folder
        self._say = say
        self._poll = poll
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"{folder}: a folder is wanted here, and there is a file") from None
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}") from error

    @property
    def identity(self) -> Mapping[str, object]:
        """People are all alike."""
        return {"model": "manual"}

    async def ask(self, call: Call) -> Answer:
        """What is in the answer's file, once it is there and no longer changes. Raises `UsageError`."""
        began = anyio.current_time()
        name = f"{call.purpose}-{call_key(self.identity, call)[:12]}"
        prompt = self.folder / f"{name}.prompt.md"
        answer = anyio.Path(self.folder / f"{name}.answer.md")
        _put(prompt, call)
        self._say(f"paste {prompt} into a chat, and save what it replies as {answer}")
        try:
            text = await self._read(answer)
        except OSError as error:
            raise UsageError(f"{answer}: {error.strerror}") from error
        return Answer(text, model="manual", seconds=anyio.current_time() - began, requests=1)

    async def aclose(self) -> None:
        """Nothing is open."""

    async def _read(self, file: anyio.Path) -> str:
        """The file's text when it was the same twice, and no code in it is without its end: it may come in pieces."""
        before, told = b"", False
        while True:
            now = await file.read_bytes() if await file.is_file() else b""
            if now.strip() and now == before:
                text = now.decode("utf-8-sig", "replace")
                if not ends_in_code(text):
                    return text
                if not told:
                    self._say(f"{file} ends inside a block of code: waiting for its last line, ```")
                    told = True
            before = now
            await anyio.sleep(self._poll)


def _put(file: Path, call: Call) -> None:
    """Write the prompt, all of it or nothing."""
    text = "\n\n".join(message.text for message in call.messages) + "\n"
    temporary = file.with_suffix(".tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, file)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
