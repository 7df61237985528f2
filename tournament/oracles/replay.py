"""The oracle that answers from a record, byte for byte, so that a run can be repeated without a model."""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tournament.oracles.oracle import Answer, Call, PromptDiffers

MOST_LINES = 200
"""How many lines of a difference are shown."""
COMPARED = 50
"""How many recorded calls from other positions in the run are compared to find the most similar one."""


class Replay:
    """Answers calls from recorded entries. If a call is recorded more than once, its last answer is used."""

    def __init__(self, entries: Iterable[tuple[Call, Answer]]) -> None:
        self._answers: dict[Call, Answer] = dict(entries)
        self._places: defaultdict[tuple[str, str, int], list[Call]] = defaultdict(list)
        for call in self._answers:
            self._places[call.place].append(call)

    @property
    def identity(self) -> Mapping[str, object]:
        """A constant, because all records are treated alike."""
        return {"model": "replay"}

    async def ask(self, call: Call) -> Answer:
        """Return the recorded answer. Raises `PromptDiffers` if the record lacks the call."""
        answer = self._answers.get(call)
        if answer is None:
            raise self._stranger(call)
        return replace(answer, cached=True)

    async def aclose(self) -> None:
        """Do nothing, because nothing is open."""

    def _stranger(self, call: Call) -> PromptDiffers:
        """Return the error for a call that the record lacks, with a comparison to the most similar recorded call."""
        if same_place := self._places.get(call.place):
            nearest = _nearest(call, same_place)
            if nearest.messages == call.messages:
                return PromptDiffers(call, "its template is not the recorded one", "")
            return PromptDiffers(
                call, "its prompt is not the recorded one", _difference(nearest, call)
            )
        alike = [other for other in self._answers if other.purpose == call.purpose][-COMPARED:]
        if not alike:
            return PromptDiffers(call, "the record has no such call", "")
        nearest = _nearest(call, alike)
        found = (
            f"the record has no such call; the nearest is {nearest.key}, attempt {nearest.attempt}"
        )
        return PromptDiffers(call, found, _difference(nearest, call))


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
    lines = list(
        difflib.unified_diff(
            recorded.text.splitlines(),
            asked.text.splitlines(),
            "recorded",
            "asked now",
            lineterm="",
        )
    )
    more = [f"... and {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])
