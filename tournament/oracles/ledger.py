"""The ledger: every call goes through it, is kept durably before its answer is used, and is never paid for twice."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol, Self
from weakref import WeakValueDictionary

import anyio

from tournament.errors import RecordBusy, RecordError
from tournament.oracles.commit import GroupCommit
from tournament.oracles.oracle import (
    WRITING,
    Answer,
    Call,
    CallOutcome,
    Message,
    Oracle,
    call_key,
)
from tournament.oracles.reply import read

_JSON = json.JSONEncoder(default=str, separators=(",", ":"))


class Journal(Protocol):
    """Keeps calls with their answers."""

    async def find(self, key: str) -> Answer | None:
        """The answer that was kept last under a key."""
        ...

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Keep an answer, which has that key; when this returns, no crash can lose it. The last of a key counts.

        It is kept even when the task is cancelled meanwhile.
        """
        ...


class Ledger:
    """An oracle that asks another one, and only for what was not answered before.

    The outcome of a call for a program says whether there is one in the answer. Failures to get an answer at all are
    kept too, but are asked again. An answer that has come is kept even when the task that asked is cancelled.
    """

    def __init__(self, oracle: Oracle, journal: Journal) -> None:
        self._oracle = oracle
        self._journal = journal
        self._turns: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @property
    def identity(self) -> Mapping[str, object]:
        """That of the oracle that is asked."""
        return self._oracle.identity

    def key(self, call: Call) -> str:
        """What a call is kept under."""
        return call_key(self._oracle.identity, call)

    async def ask(self, call: Call) -> Answer:
        """The answer that was kept, or else a new one. Two who ask the same at once share one answer."""
        key = self.key(call)
        turn = self._turns.setdefault(key, anyio.Lock(fast_acquire=True))
        async with turn:
            known = await self._journal.find(key)
            if known is not None and known.outcome.answered:
                return replace(known, key=key, cached=True)
            answer = judged(call, await self._oracle.ask(call), key)
            await self._journal.keep(key, call, answer)
            return answer

    async def aclose(self) -> None:
        """Close the oracle that is asked. The journal is its owner's to close."""
        await self._oracle.aclose()


def judged(call: Call, answer: Answer, key: str) -> Answer:
    """The answer with its key, and with the outcome that it has as an answer to this call."""
    if call.purpose not in WRITING or not answer.outcome.answered:
        return replace(answer, key=key)
    reply = read(answer)
    return replace(answer, key=key, outcome=reply.outcome, detail=answer.detail or reply.note)


class NoJournal:
    """Keeps nothing."""

    async def find(self, key: str) -> Answer | None:
        """Nothing."""
        return None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Forget it."""


class FileJournal:
    """A journal in a file of JSON lines, one for each call that was answered or failed.

    What is kept at the same time is written at once and made durable together. Half a line at the end, where a
    process was killed, is cut off when the file is opened.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._answers: dict[str, Answer] = {}
        self._failure: RecordError | None = None
        self._lines = GroupCommit(self._append)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a journal, or begin one. Raises `RecordBusy` and `RecordError`."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise RecordError(f"{path}: {error.strerror}") from error
        journal = cls(path, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            journal._load()
        except BaseException as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise RecordBusy(str(path), "another process") from None
            raise
        return journal

    def _load(self) -> None:
        size = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                _, answer = _parsed(self.path, number, line)
                self._answers[answer.key] = answer
                size += len(line)
        os.ftruncate(self._descriptor, size)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    async def find(self, key: str) -> Answer | None:
        """The answer that was kept last under a key."""
        return self._answers.get(key)

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Append an answer and wait until it is on disk. Raises `RecordError`."""
        await self._lines.put(to_line(call, answer))
        self._answers[key] = answer

    def _append(self, lines: Sequence[str]) -> None:
        if self._failure is not None:
            raise self._failure
        data = "".join(lines).encode()
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
            os.fsync(self._descriptor)
        except OSError as error:
            # Half a line may be there now: whatever followed it would be lost.
            self._failure = RecordError(f"{self.path}: {error.strerror}")
            raise self._failure from error


def entries(path: Path) -> Iterator[tuple[Call, Answer]]:
    """The calls in a journal's file with their answers, in order; half a line at the end is left out.

    Raises `RecordError` if there is no such file, or if it is no journal.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n"):
                    yield _parsed(path, number, line)
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}") from error


def to_line(call: Call, answer: Answer) -> str:
    """A call and its answer as a line of JSON."""
    messages = [vars(message) for message in call.messages]
    data = {"call": vars(call) | {"messages": messages}, "answer": vars(answer)}
    return _JSON.encode(data) + "\n"


def from_line(line: bytes | str) -> tuple[Call, Answer]:
    """A call and its answer from a line of JSON. Raises `ValueError`, `TypeError` or `KeyError`."""
    data: dict[str, dict[str, Any]] = json.loads(line)
    call, answer = _known(Call, data["call"]), _known(Answer, data["answer"])
    call["messages"] = tuple(Message(**message) for message in call["messages"])
    answer["outcome"] = CallOutcome(answer["outcome"])
    answer["cost"] = None if answer["cost"] is None else Decimal(answer["cost"])
    return Call(**call), Answer(**answer)


def _known(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The values that a kind of record has; later versions may have written more."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in values.items() if name in names}


def _parsed(path: Path, number: int, line: bytes) -> tuple[Call, Answer]:
    try:
        return from_line(line)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError) as error:
        raise RecordError(f"{path}, line {number}: this is no call with its answer") from error
