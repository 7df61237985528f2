"""The ledger, which keeps every answer durably before it is used, so that no call is paid for twice."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from decimal import Decimal
from typing import Any, Protocol
from weakref import WeakValueDictionary

import anyio

from tournament.errors import RecordError
from tournament.oracles.limits import Spending
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message, Oracle, call_key
from tournament.oracles.reply import read, read_review

READERS = {"write": read, "rewrite": read, "critique": read_review}
"""The functions that decide whether an answer contains what was asked for, by purpose of the call."""


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

    def __init__(self, oracle: Oracle, journal: Journal | None = None) -> None:
        self._oracle = oracle
        self._journal = journal
        self._turns: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    @property
    def identity(self) -> Mapping[str, object]:
        """The identity of the oracle to which calls are passed on."""
        return self._oracle.identity

    async def ask(self, call: Call) -> Answer:
        """Return the kept answer, or ask for a new one. Tasks that make the same call at once share one answer."""
        key = call_key(self.identity, call)
        async with self._turns.setdefault(key, anyio.Lock(fast_acquire=True)):
            known = await self._journal.find(key) if self._journal else None
            if known is not None and known.outcome.answered:
                return replace(known, key=key, cached=True)
            answer = replace(_judged(call, await self._oracle.ask(call)), key=key)
            if known is not None:
                answer = replace(answer, taken=known.taken + answer.taken)
            if self._journal:
                await self._journal.keep(key, call, answer)
            return answer

    async def aclose(self) -> None:
        """Close the oracle to which calls are passed on. The owner of the journal closes the journal."""
        await self._oracle.aclose()


def _judged(call: Call, answer: Answer) -> Answer:
    """Return the answer with an outcome that says whether it contains what the call asked for."""
    if call.purpose not in READERS or not answer.outcome.answered:
        return answer
    reply = READERS[call.purpose](answer)
    return replace(answer, outcome=reply.outcome, detail=answer.detail or reply.note)


def to_line(call: Call, answer: Answer) -> str:
    """Return a call and its answer as one line of JSON."""
    data = {"call": asdict(call), "answer": asdict(answer)}
    return json.dumps(data, default=str, separators=(",", ":")) + "\n"


def from_line(line: str) -> tuple[Call, Answer]:
    """Return the call and the answer in a line that `to_line` wrote. Raises `RecordError` for any other text."""
    try:
        data = json.loads(line)
        call, answer = _known(Call, data["call"]), _known(Answer, data["answer"])
        call["messages"] = tuple(Message(**message) for message in call["messages"])
        answer["outcome"] = CallOutcome(answer["outcome"])
        answer["cost"] = None if answer["cost"] is None else Decimal(answer["cost"])
        if taken := answer.get("taken"):
            answer["taken"] = Spending(taken["calls"], taken["tokens"], Decimal(taken["money"]))
        return Call(**call), Answer(**answer)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise RecordError(f"a recorded call to a model cannot be read: {error!r}") from error


def _known(kind: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that belong to fields of the dataclass `kind`. A later version may have written others too."""
    return {field.name: values[field.name] for field in fields(kind) if field.name in values}
