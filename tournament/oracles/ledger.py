"""The ledger, which keeps every answer durably before it is used, so that no call is paid for twice."""

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
    """A store of calls and their answers."""

    async def find(self, key: str) -> Answer | None:
        """Return the answer that was kept last under a key, or None."""
        ...

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Keep an answer under a key. Once this returns, no crash can lose the answer.

        A later answer replaces an earlier one with the same key. The answer is kept even if the task is cancelled.
        """
        ...


class Ledger:
    """An oracle that passes a call on to another oracle only if the journal has no answer to it.

    The outcome of a call for a program says whether the answer contains a program. Calls that got no answer from the
    model are kept too, but are asked again. An answer that has arrived is kept even if the asking task is cancelled.
    """

    def __init__(self, oracle: Oracle, journal: Journal) -> None:
        self._oracle = oracle
        self._journal = journal
        self._turns: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @property
    def identity(self) -> Mapping[str, object]:
        """The identity of the oracle to which calls are passed on."""
        return self._oracle.identity

    def key(self, call: Call) -> str:
        """Return the key under which a call is kept."""
        return call_key(self._oracle.identity, call)

    async def ask(self, call: Call) -> Answer:
        """Return the kept answer, or ask for a new one. Tasks that make the same call at once share one answer."""
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
        """Close the oracle to which calls are passed on. The owner of the journal closes the journal."""
        await self._oracle.aclose()


def judged(call: Call, answer: Answer, key: str) -> Answer:
    """Return the answer with its key, and with an outcome that says whether it contains what the call asked for."""
    reads = _READERS.get(call.purpose)
    if reads is None or not answer.outcome.answered:
        return replace(answer, key=key)
    reply = reads(answer)
    return replace(answer, key=key, outcome=reply.outcome, detail=answer.detail or reply.note)


_READERS = {**dict.fromkeys(WRITING, read), "critique": read_review}
"""The function that judges an answer, by purpose of the call."""


class NoJournal:
    """A journal that keeps nothing."""

    async def find(self, key: str) -> Answer | None:
        """Return None."""
        return None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Do nothing."""


def to_line(call: Call, answer: Answer) -> str:
    """Return a call and its answer as one line of JSON."""
    messages = [vars(message) for message in call.messages]
    taken = vars(answer.taken)
    data = {"call": vars(call) | {"messages": messages}, "answer": vars(answer) | {"taken": taken}}
    return _JSON.encode(data) + "\n"


def from_line(line: bytes | str) -> tuple[Call, Answer]:
    """Return the call and the answer in a line of JSON.

    Raises `ValueError`, `TypeError` or `KeyError` for most lines that are not in the form that `to_line` writes.
    """
    data: dict[str, dict[str, Any]] = json.loads(line)
    call, answer = _known(Call, data["call"]), _known(Answer, data["answer"])
    call["messages"] = tuple(Message(**message) for message in call["messages"])
    answer["outcome"] = CallOutcome(answer["outcome"])
    answer["cost"] = None if answer["cost"] is None else Decimal(answer["cost"])
    if taken := answer.get("taken"):
        answer["taken"] = Spending(taken["calls"], taken["tokens"], Decimal(taken["money"]))
    return Call(**call), Answer(**answer)


def _known(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that belong to fields of the dataclass `kind`. A later version may have written others too."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in values.items() if name in names}
