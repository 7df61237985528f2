"""Keeps calls to models in the record, so that a run that is resumed or repeated pays for each call only once."""

from collections.abc import Sequence
from typing import Any, Protocol

from anyio import to_thread

from tournament.oracles.commit import GroupCommit
from tournament.oracles.ledger import from_line, to_line
from tournament.oracles.oracle import Answer, Call


class Calls(Protocol):
    """The methods of a record that keep and find calls to models."""

    def keep_calls(self, calls: Sequence[dict[str, Any]]) -> None:
        """Write calls with their answers, one row each, in one transaction."""

    def find_call(self, key: str) -> str | None:
        """Return the call with that key and its answer as one line of text, or None if there is none."""

    def call_keys(self) -> set[str]:
        """Return the keys of all calls."""


class RecordJournal:
    """The journal of calls to models for one run.

    Every answer is committed to the record before it is used. Answers that arrive together share a transaction.
    """

    def __init__(self, calls: Calls, run: int) -> None:
        self._calls = calls
        self._run = run
        self._kept = calls.call_keys()
        self._rows = GroupCommit(calls.keep_calls)

    async def find(self, key: str) -> Answer | None:
        """Return the answer that was kept under the key, or None."""
        if key not in self._kept:
            return None
        line = await to_thread.run_sync(self._calls.find_call, key)
        return from_line(line)[1] if line else None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Return once the answer is committed to the record. Raises `RecordError`."""
        row = {
            "key": key,
            "run": self._run,
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
        await self._rows.put(row)
        self._kept.add(key)
