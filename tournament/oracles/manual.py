"""The oracle that asks a person: it writes the prompt to a file and waits for the answer in another file.

It is for people who only have a chat window, and for people who want to write the programs themselves.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import anyio

from tournament.errors import UsageError
from tournament.oracles.oracle import Answer, Call, Notify, call_key, silent
from tournament.oracles.reply import ends_in_code

POLL_SECONDS = 0.5


class Manual:
    """Writes prompts to `folder` and reads answers from it. `poll` is the number of seconds between two readings.

    The names of the two files depend only on the call, so that an answer is found again in a later session. Raises
    `UsageError` if the folder cannot be made.
    """

    def __init__(self, folder: Path, notify: Notify = silent, poll: float = POLL_SECONDS) -> None:
        self.folder = folder
        self._notify = notify
        self._poll = poll
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise UsageError(f"{folder}: this must be a folder, and it is a file") from None
        except OSError as error:
            raise UsageError(f"{folder}: {error.strerror}") from error

    @property
    def identity(self) -> Mapping[str, object]:
        """A constant, so that answers do not depend on who writes them."""
        return {"model": "manual"}

    async def ask(self, call: Call) -> Answer:
        """Write the prompt and return the text of the answer's file, once the file is there and no longer changes.

        Raises `UsageError` if one of the files cannot be written or read.
        """
        began = anyio.current_time()
        name = f"{call.purpose}-{call_key(self.identity, call)[:12]}"
        prompt = self.folder / f"{name}.prompt.md"
        answer = anyio.Path(self.folder / f"{name}.answer.md")
        text = "\n\n".join(message.text for message in call.messages) + "\n"
        temporary = prompt.with_suffix(".tmp")
        try:
            temporary.write_text(text, encoding="utf-8")
            os.replace(temporary, prompt)
            self._notify(f"paste {prompt} into a chat, and save the reply as {answer}")
            reply = await self._read(answer)
        except OSError as error:
            raise UsageError(f"{error.filename or answer}: {error.strerror}") from error
        return Answer(reply, model="manual", seconds=anyio.current_time() - began, requests=1)

    async def aclose(self) -> None:
        """Do nothing, because no file stays open."""

    async def _read(self, file: anyio.Path) -> str:
        """Return the file's text once two readings agree and no block of code is open.

        Both conditions are needed because the file may be written piece by piece.
        """
        before, reported = b"", False
        while True:
            now = await file.read_bytes() if await file.is_file() else b""
            if now.strip() and now == before:
                text = now.decode("utf-8-sig", "replace")
                if not ends_in_code(text):
                    return text
                if not reported:
                    self._notify(
                        f"{file} ends inside a block of code: waiting for its last line, ```"
                    )
                    reported = True
            before = now
            await anyio.sleep(self._poll)
