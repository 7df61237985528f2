"""Keeps calls to models in the record, so that a run that goes on, or is run again, pays for none of them twice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from anyio import CancelScope, to_thread

from tournament.oracles.commit import GroupCommit
from tournament.oracles.ledger import from_line, to_line
from tournament.oracles.oracle import Answer, Call
from tournament.oracles.replay import Replay


class Calls(Protocol):
    """The part of a record that calls are kept in."""

    def keep_calls(self, calls: Sequence[dict[str, Any]]) -> None:
        """Keep calls with their answers."""

    def find_call(self, key: str) -> str | None:
        """The line of the call with that key."""

    def call_keys(self) -> set[str]:
        """The keys of all calls."""


class RecordJournal:
    """The journal of a run: what is kept is committed before it is used, many answers in a transaction."""

    def __init__(self, calls: Calls, run: int) -> None:
        self._calls = calls
        self._run = run
        self._kept = calls.call_keys()
        self._rows = GroupCommit(calls.keep_calls)

    async def find(self, key: str) -> Answer | None:
        """The answer that was kept last under a key."""
        if key not in self._kept:
            return None
        line = await to_thread.run_sync(self._calls.find_call, key)
        return from_line(line)[1] if line else None

    async def keep(self, key: str, call: Call, answer: Answer) -> None:
        """Commit an answer. Raises `RecordError`."""
        await self._rows.put(_row(key, self._run, call, answer))
        self._kept.add(key)


def _row(key: str, run: int, call: Call, answer: Answer) -> dict[str, Any]:
    return {
        "key": key,
        "run": run,
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
