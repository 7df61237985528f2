"""Keeps calls to models in the record, so that a run that goes on, or is run again, pays for none of them twice."""

from typing import Any, Protocol

from anyio import CapacityLimiter, to_thread

from tournament.oracles.ledger import from_line, to_line
from tournament.oracles.oracle import Answer, Call


class Calls(Protocol):
    """The part of a record that calls are kept in."""

    def keep_call(self, call: dict[str, Any]) -> None:
        """Keep a call with its answer."""

    def find_call(self, key: str) -> str | None:
        """The line of the call with that key."""


class RecordJournal:
    """The journal: what is kept is committed before it is used."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._one = CapacityLimiter(1)

    async def find(self, key: str) -> Answer | None:
        """The answer that was kept last under a key."""
        line = await to_thread.run_sync(self._calls.find_call, key, limiter=self._one)
        return from_line(line)[1] if line else None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Commit an answer. Raises `RecordError`."""
        row = {
            "key": key,
            "place": call.key,
            "purpose": call.purpose,
            "model": answer.model,
            "prompt": call.text,
            "answer": answer.text,
            "outcome": str(answer.outcome),
            "input_tokens": answer.input_tokens,
            "output_tokens": answer.output_tokens,
            "cost": None if answer.cost is None else float(answer.cost),
            "seconds": answer.seconds,
            "line": to_line(call, answer),
        }
        await to_thread.run_sync(self._calls.keep_call, row, limiter=self._one)
