"""Matches of one program in one instance."""

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
"""Faults that a guest sees; the others end it."""
PEEK = "unseen"
"""What a guest asks for whose program looks at what others have moved, and has not been shown it."""
FLAGS = frozenset(map(str, range(ANYTHING + 1)))
MOST_FAULTS = 1 << 20
"""The most characters that are read of a guest's faults in a round: they may be its bot's words."""

Answer = tuple[str, dict[int, list[str]]]
"""The codes of the moves made to a line, and the faults by position in it."""


class Cohort:
    """Slots of one program that share an instance and move together."""

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
        """The answers to these lines. Raises `Ended`, also where one of many matches is told to be out of memory."""
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
            raise Ended("crash", message, burnt=self.instance.burnt) from None

    def drop(self, over: set[int]) -> dict[int, int]:
        """End the matches of the slots that are over; return at what their program looked. Raises `Ended`."""
        gone = {slot: n for n, slot in enumerate(self.slots) if slot in over}
        if not gone:
            return {}
        self.slots = [slot for slot in self.slots if slot not in over]
        looked = self.instance.drop(list(gone.values()))
        return {slot: _looks(flags) for slot, flags in zip(gone, looked, strict=False)}

    def _parsed(self, line: Line, answer: str) -> Answer:
        """A guest's answer to a line. Raises `ValueError` for one that only a guest in a bot's hands gives."""
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
    """At what a guest says that its program looked: everything, where it says nothing of the kind."""
    return int(flags) if flags in FLAGS else ANYTHING


def _fault(told: object) -> list[str]:
    """A fault as a guest tells it: kind, message, traceback, and what was printed. Raises `ValueError`."""
    if type(told) is not list or len(told) != 4 or told[0] not in KINDS:
        raise ValueError("a fault of no known form")
    if any(type(text) is not str or len(text) > MOST_TEXT for text in told):
        raise ValueError("a fault with something else than a short text")
    # Half a surrogate pair, which JSON can spell, is no text to anybody else.
    return [text.encode("utf-8", "replace").decode() for text in told]
