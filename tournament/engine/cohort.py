"""Plays a group of matches of one program in one instance."""

import json
from collections.abc import Sequence

from tournament.engine.batch import ANYTHING, MOST_TEXT, Batch
from tournament.engine.rows import Line
from tournament.game import code
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.powers import Place, Powers

FAULTY = "!"
"""Stands in an answer for the move of a slot that broke a rule."""
KINDS = ("load", "error", "illegal", "memory")
"""Kinds of fault that the guest can report in an answer; a fault of another kind ends the instance."""
PEEK = "unseen"
"""The request of a guest whose program reads the opponents' moves although these were not shown to it."""
FLAGS = frozenset(map(str, range(ANYTHING + 1)))
"""The characters by which a guest reports what a program has read (see `ANYTHING`)."""
MOST_FAULTS = 1 << 20
"""The most characters of faults that are accepted in the answer to a line, because a bot may have written them."""

Answer = tuple[str, dict[int, list[str]]]
"""The answer to a line: the codes of the moves, and the faults by position in the line."""


class Cohort:
    """A group of slots of one program that share an instance and move together."""

    def __init__(
        self, image: Image, batch: Batch, program: int, slots: Sequence[int], powers: Powers
    ) -> None:
        self.batch = batch
        self.slots = list(slots)
        self._powers = powers
        self._places = [self._place(slot) for slot in slots]
        self._legal = ["".join(map(code, range(len(moves)))) for moves in batch.facts["moves"]]
        self._usual = self._legal[0] + "\n" if len(set(self._legal)) == 1 else ""
        setup = {
            "game": batch.facts,
            "matches": [
                [place.seat, place.lineup, place.private, [place.shared, 0]]
                for place in self._places
            ],
        }
        source = batch.programs[program][1]
        self.instance = image.instance(source, setup, batch.limits)

    def play(self, lines: Sequence[Line]) -> list[Answer]:
        """Return the answers to these lines. Raises `Ended` if the instance ends.

        It is also raised if the guest reports that one of several matches is out of memory, since that match might
        have enough memory alone.
        """
        count = len(self.slots)
        asked = [
            text if last - first == count else f"{first} {last} {text}"
            for first, last, text in lines
        ]
        answer = self.instance.play("\n".join(asked), self._host)
        answers = answer.split("\n", len(lines))
        widths = [last - first for first, last, _ in lines]
        if not answer.strip(self._usual) and [*map(len, answers)] == widths:
            return [(codes, {}) for codes in answers]
        try:
            return [self._parsed(*both) for both in zip(lines, answers, strict=True)]
        except (ValueError, RecursionError):
            message = "broke what it runs in, and answered nonsense"
            raise Ended("crash", message, fuel_used=self.instance.fuel_used) from None

    def drop(self, over: set[int]) -> dict[int, int]:
        """Remove the slots that are over, and return what their program has read, by slot. Raises `Ended`."""
        gone = {slot: n for n, slot in enumerate(self.slots) if slot in over}
        if not gone:
            return {}
        self.slots = [slot for slot in self.slots if slot not in over]
        looked = self.instance.drop(list(gone.values()))
        return {slot: _looks(flags) for slot, flags in zip(gone, looked, strict=False)}

    def _parsed(self, line: Line, answer: str) -> Answer:
        """Parse a guest's answer to a line. Raises `ValueError` for one that only a manipulated guest can give."""
        codes, _, rest = answer.partition(" ")
        if len(codes) != line.last - line.first or len(rest) > MOST_FAULTS:
            raise ValueError("an answer of another length")
        told = json.loads(rest) if rest else {}
        faulty = {str(n): n for n, character in enumerate(codes) if character == FAULTY}
        if type(told) is not dict or told.keys() != faulty.keys() or (rest and not faulty):
            raise ValueError("faults of others than those at fault")
        if not all(map(self._is_legal, self.slots[line.first : line.last], codes)):
            raise ValueError("a move that is none")
        faults = {n: _fault(told[name]) for name, n in faulty.items()}
        if len(self.slots) > 1 and any(kind == "memory" for kind, *_ in faults.values()):
            raise Ended("memory", "ran out of memory")
        return codes, faults

    def _is_legal(self, slot: int, character: str) -> bool:
        return character == FAULTY or character in self._legal[slot % self.batch.seats]

    def _place(self, slot: int) -> Place:
        match, seat = divmod(slot, self.batch.seats)
        lineup, shared = self.batch.fixtures[match].lineup, self.batch.shared_tapes[match]
        return Place(slot, lineup, seat, self.batch.tape(match, "private", seat), shared)

    def _host(self, caller: Instance, request: str) -> str:
        if request == PEEK:
            raise Ended("crash", "looked at what it was not shown")
        return self._powers.answer(caller, self._places, request)


def _looks(flags: str) -> int:
    """Return what a guest reports that its program has read, or `ANYTHING` if the report makes no sense."""
    return int(flags) if flags in FLAGS else ANYTHING


def _fault(told: object) -> list[str]:
    """Return a fault from a guest's report: kind, message, traceback, and what was printed.

    Raises `ValueError` if the report has another form.
    """
    if type(told) is not list or len(told) != 4 or told[0] not in KINDS:
        raise ValueError("a fault of no known form")
    if any(type(text) is not str or len(text) > MOST_TEXT for text in told):
        raise ValueError("a fault with something else than a short text")
    # JSON can contain half of a surrogate pair, which cannot be encoded as UTF-8.
    return [text.encode("utf-8", "replace").decode() for text in told]
