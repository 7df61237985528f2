"""Keeps calls to models in the record, so that a run that goes on, or is run again, pays for none of them twice."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from anyio import CancelScope, CapacityLimiter, to_thread

from tournament.oracles.ledger import from_line, to_line
from tournament.oracles.oracle import Answer, Call
from tournament.oracles.replay import Replay


class Calls(Protocol):
    """The part of a record that calls are kept in."""

    def keep_call(self, call: dict[str, Any]) -> None:
        """Keep a call with its answer."""

    def find_call(self, key: str) -> str | None:
        """The line of the call with that key."""


class RecordJournal:
    """The journal of a run: what is kept is committed before it is used."""

    def __init__(self, calls: Calls, run: int) -> None:
        self._calls = calls
        self._run = run
        self._one = CapacityLimiter(1)

    async def find(self, key: str) -> Answer | None:
        """The answer that was kept last under a key."""
        line = await to_thread.run_sync(self._calls.find_call, key, limiter=self._one)
        return from_line(line)[1] if line else None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Commit an answer. Raises `RecordError`."""
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
        await to_thread.run_sync(self._calls.keep_call, row, limiter=self._one)


class Replayed:
    """Answers from a record, and keeps what it answers as it was kept there: under the same keys, word for word."""

    def __init__(self, replay: Replay, journal: RecordJournal) -> None:
        self._replay = replay
        self._journal = journal

    @property
    def identity(self) -> Mapping[str, object]:
        """That of any record."""
        return self._replay.identity

    async def ask(self, call: Call) -> Answer:
        """What was answered then. Raises `PromptDiffers` for a call that is not in the record."""
        answer = await self._replay.ask(call)
        with CancelScope(shield=True):
            if await self._journal.find(answer.key) is None:
                await self._journal.keep(answer.key, call, replace(answer, cached=False))
        return answer

    async def aclose(self) -> None:
        """Nothing is open."""
        await self._replay.aclose()
