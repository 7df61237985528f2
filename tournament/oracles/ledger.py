"""The ledger: every call goes through it, is kept durably before its answer is used, and is never paid for twice."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, Protocol
from weakref import WeakValueDictionary

import anyio

from tournament.oracles.limits import Spending
from tournament.oracles.oracle import (
    WRITING,
    Answer,
    Call,
    CallOutcome,
    Message,
    Oracle,
    call_key,
)
from tournament.oracles.reply import read, read_review

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
            if known is not None:
                answer = replace(answer, taken=known.taken + answer.taken)
            await self._journal.keep(key, call, answer)
            return answer

    async def aclose(self) -> None:
        """Close the oracle that is asked. The journal is its owner's to close."""
        await self._oracle.aclose()


def judged(call: Call, answer: Answer, key: str) -> Answer:
    """The answer with its key, and with the outcome that it has as an answer to this call."""
    reads = _READERS.get(call.purpose)
    if reads is None or not answer.outcome.answered:
        return replace(answer, key=key)
    reply = reads(answer)
    return replace(answer, key=key, outcome=reply.outcome, detail=answer.detail or reply.note)


_READERS = {**dict.fromkeys(WRITING, read), "critique": read_review}


class NoJournal:
    """Keeps nothing."""

    async def find(self, key: str) -> Answer | None:
        """Nothing."""
        return None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Forget it."""


def to_line(call: Call, answer: Answer) -> str:
    """A call and its answer as a line of JSON."""
    messages = [vars(message) for message in call.messages]
    taken = vars(answer.taken)
    data = {"call": vars(call) | {"messages": messages}, "answer": vars(answer) | {"taken": taken}}
    return _JSON.encode(data) + "\n"


def from_line(line: bytes | str) -> tuple[Call, Answer]:
    """A call and its answer from a line of JSON. Raises `ValueError`, `TypeError` or `KeyError`."""
    data: dict[str, dict[str, Any]] = json.loads(line)
    call, answer = _known(Call, data["call"]), _known(Answer, data["answer"])
    call["messages"] = tuple(Message(**message) for message in call["messages"])
    answer["outcome"] = CallOutcome(answer["outcome"])
    answer["cost"] = None if answer["cost"] is None else Decimal(answer["cost"])
    if taken := answer.get("taken"):
        answer["taken"] = Spending(taken["calls"], taken["tokens"], Decimal(taken["money"]))
    return Call(**call), Answer(**answer)


def _known(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The values that a kind of record has; later versions may have written more."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in values.items() if name in names}
