"""Answers from a record, byte for byte, so that a run can be repeated without a model."""

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tournament.oracles.oracle import Answer, Call, PromptDiffers

MOST_LINES = 200
"""Of a difference, shown."""
COMPARED = 50
"""Calls of other places that are compared to find the nearest."""


class Replay:
    """The oracle. Of a call that was kept more than once, the last answer counts."""

    def __init__(self, entries: Iterable[tuple[Call, Answer]]) -> None:
        self._answers: dict[Call, Answer] = dict(entries)
        self._places: defaultdict[tuple[str, str, int], list[Call]] = defaultdict(list)
        for call in self._answers:
            self._places[call.place].append(call)

    @property
    def identity(self) -> Mapping[str, object]:
        """A record is a record."""
        return {"model": "replay"}

    async def ask(self, call: Call) -> Answer:
        """What was answered then. Raises `PromptDiffers` for a call that is not in the record."""
        answer = self._answers.get(call)
        if answer is None:
            raise self._stranger(call)
        return replace(answer, cached=True)

    async def aclose(self) -> None:
        """Nothing is open."""

    def _stranger(self, call: Call) -> PromptDiffers:
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
    """The call whose prompt shares most lines with that of `call`; the later of equals."""
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(call.text.splitlines())

    def likeness(other: Call) -> float:
        matcher.set_seq1(other.text.splitlines())
        return matcher.quick_ratio()

    return max(reversed(others), key=likeness)


def _difference(recorded: Call, asked: Call) -> str:
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
