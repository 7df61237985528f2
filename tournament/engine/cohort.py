"""Matches of one program in one instance."""

import json
from collections.abc import Iterable, Sequence
from operator import itemgetter, le
from typing import Any

from tournament.engine.batch import ANYTHING, MOST_TEXT, Batch
from tournament.game import code
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.powers import Place, Powers

FAULTY = "!"
"""Stands in an answer for the move of a slot that broke a rule."""
KINDS = ("load", "error", "illegal", "memory")
"""Faults that a guest sees; the others end it."""
FLAGS = frozenset(map(str, range(ANYTHING + 1)))
MOST_FAULTS = 1 << 20
"""The most characters that are read of a guest's faults in a round: they may be its bot's words."""

Answer = tuple[str, dict[int, list[str]]]
"""The codes of the moves made in a round, and the faults by position."""


class Cohort:
    """Slots of one program that share an instance and move in lockstep."""

    def __init__(
        self, image: Image, batch: Batch, program: int, slots: Sequence[int], powers: Powers
    ) -> None:
        self.batch = batch
        self.slots = list(slots)
        self._powers = powers
        self._places = [self._place(slot) for slot in slots]
        setup = {
            "game": batch.facts,
            "matches": [
                [place.seat, place.lineup, place.private, [place.shared, 0]]
                for place in self._places
            ],
        }
        source = batch.programs[program][1]
        self.instance = image.instance(source, setup, batch.limits)
        self._arrange()

    def play(self, lines: Sequence[str]) -> list[Answer]:
        """The answers to these lines, each the joint moves of the round before. Raises `Ended`."""
        answers = self.instance.play("\n".join(lines), self._host).split("\n", len(lines))
        try:
            if len(answers) != len(lines):
                raise ValueError("so many answers to so many lines")
            return [self._parsed(answer) for answer in answers]
        except (ValueError, RecursionError):
            message = "broke what it runs in, and answered nonsense"
            raise Ended("crash", message, burnt=self.instance.burnt) from None

    def drop(self, over: set[int]) -> dict[int, int]:
        """End the matches of the slots that are over; return at what their program looked. Raises `Ended`."""
        gone = {slot: n for n, slot in enumerate(self.slots) if slot in over}
        if not gone:
            return {}
        self.slots = [slot for slot in self.slots if slot not in over]
        if self.slots:
            self._arrange()
        looked = self.instance.drop(list(gone.values()))
        return {slot: _looks(flags) for slot, flags in zip(gone, looked, strict=False)}

    def _arrange(self) -> None:
        self.see = columns(self.batch.seats, self.slots)
        legal = self.batch.facts["moves"]
        self._most = [code(len(legal[slot % self.batch.seats]) - 1) for slot in self.slots]

    def _parsed(self, answer: str) -> Answer:
        """A guest's answer to a line. Raises `ValueError` for one that only a guest in a bot's hands gives."""
        codes, _, rest = answer.partition(" ")
        if len(codes) != len(self.slots) or len(rest) > MOST_FAULTS:
            raise ValueError("an answer of another length")
        if not all(map(le, codes, self._most)):
            raise ValueError("a move that is none")
        if not rest and min(codes) >= code(0):
            return codes, {}
        told = json.loads(rest)
        faulty = {str(n): n for n, character in enumerate(codes) if character < code(0)}
        if type(told) is not dict or told.keys() != faulty.keys():
            raise ValueError("faults of others than those at fault")
        if {codes[n] for n in faulty.values()} != {FAULTY}:
            raise ValueError("a move that is none")
        return codes, {n: _fault(told[name]) for name, n in faulty.items()}

    def _place(self, slot: int) -> Place:
        match, seat = divmod(slot, self.batch.seats)
        private, shared = self.batch.tape(match, "private", seat), self.batch.tape(match, "shared")
        lineup = tuple(self.batch.programs[number][0] for number in self.batch.lineup_at(slot))
        return Place(slot, lineup, seat, private, shared)

    def _host(self, caller: Instance, request: str) -> str:
        return self._powers.answer(caller, self._places, request)


def columns(seats: int, slots: Iterable[int]) -> "itemgetter[Any]":
    """Picks out of a row of codes what these slots see: the own moves, then those of each seat further round."""
    slots = list(slots)
    return itemgetter(
        *(slot - slot % seats + (slot + turn) % seats for turn in range(seats) for slot in slots)
    )


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
