"""The oracle that answers from a record, byte for byte, so that a run can be repeated without a model."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from anyio import CancelScope

from tournament.oracles.ledger import Journal
from tournament.oracles.oracle import Answer, Call, PromptDiffers

MOST_LINES = 200
"""How many lines of a difference are shown."""
COMPARED = 50
"""How many recorded calls from other positions in the run are compared to find the most similar one."""


class Replay:
    """Answers calls from recorded entries. If a call is recorded more than once, its last answer is used.

    Each answer is copied into the journal, if there is one, unchanged and under the same key.
    """

    def __init__(
        self, entries: Iterable[tuple[Call, Answer]], journal: Journal | None = None
    ) -> None:
        self._answers: dict[Call, Answer] = dict(entries)
        self._journal = journal

    @property
    def identity(self) -> Mapping[str, object]:
        """A constant, because all records are treated alike."""
        return {"model": "replay"}

    async def ask(self, call: Call) -> Answer:
        """Return the recorded answer. Raises `PromptDiffers` if the record lacks the call."""
        answer = self._answers.get(call)
        if answer is None:
            raise self._difference_to(call)
        if self._journal is not None:
            with CancelScope(shield=True):
                if await self._journal.find(answer.key) is None:
                    await self._journal.keep(answer.key, call, replace(answer, cached=False))
        return replace(answer, cached=True)

    async def aclose(self) -> None:
        """Do nothing, because nothing is open."""

    def _difference_to(self, call: Call) -> PromptDiffers:
        """Return the error for a call that the record lacks, with a comparison to the most similar recorded call."""
        if same := [other for other in self._answers if other.position == call.position]:
            nearest = _nearest(call, same)
            if nearest.messages == call.messages:
                return PromptDiffers(call, "its template is not the recorded one")
            difference = _difference(nearest, call)
            return PromptDiffers(call, "its prompt is not the recorded one", difference)
        alike = [other for other in self._answers if other.purpose == call.purpose][-COMPARED:]
        if not alike:
            return PromptDiffers(call, "the record has no such call")
        nearest = _nearest(call, alike)
        problem = (
            f"the record has no such call; the nearest is {nearest.key}, attempt {nearest.attempt}"
        )
        return PromptDiffers(call, problem, _difference(nearest, call))


def _nearest(call: Call, others: Sequence[Call]) -> Call:
    """Return the call whose prompt shares most lines with that of `call`, and the last one if several are equal."""
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(call.text.splitlines())

    def likeness(other: Call) -> float:
        matcher.set_seq1(other.text.splitlines())
        return matcher.quick_ratio()

    return max(reversed(others), key=likeness)


def _difference(recorded: Call, asked: Call) -> str:
    """Return a unified diff of two prompts, cut after `MOST_LINES` lines."""
    old, new = recorded.text.splitlines(), asked.text.splitlines()
    lines = list(difflib.unified_diff(old, new, "recorded", "asked now", lineterm=""))
    more = [f"... and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])
