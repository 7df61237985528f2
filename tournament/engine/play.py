"""Plays a batch of matches: every program in one instance, and each in its turn makes all the moves that it can.

In a match a program can move as long as it has not moved more often than the others. So when its turn comes again it
mostly has two moves to make in every match: one for a round in which the others have moved already, and one that they
will answer. One call brings both.

This is fast play. It means the same as strict play (a fresh instance for every seat of every match) because a call
for many moves gets the fuel and memory of one: what ends an instance here is split and played again from the moves
on record, down to single moves of single matches, and these are strict play. `audit.py` checks what is left to check.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tournament.engine.batch import ANYTHING, Batch, Played
from tournament.engine.cohort import Answer, Cohort
from tournament.engine.moves import ROUNDS, Moves
from tournament.engine.rows import Line, Row
from tournament.game import StateGame
from tournament.sandbox.instance import Ended, Image
from tournament.sandbox.memory import Memory
from tournament.sandbox.powers import Powers

T = TypeVar("T")
PARTS = 8
"""Into how many parts a cohort is split when its instance has come to its end."""
DEAR = 8
"""Where a call has used more than one part in so many of its fuel, the next makes one round."""
UNSEEN_ROUNDS = 100
"""The most rounds in a call to a program that does not look at what others have moved."""


@dataclass
class Part:
    """Slots that move together; without a cohort they must be seated first.

    If it is `blind`, it need not be shown what others have moved, and once it is `ahead`, it has not been: never in
    strict play. `asked` is how many lines its last call had; with `singly`, every call has one. `burnt` is fuel not yet
    shared out.
    """

    program: int
    row: Row
    cohort: Cohort | None = None
    blind: bool = False
    ahead: bool = False
    asked: int = 0
    singly: bool = False
    burnt: int = 0


def play(image: Image, batch: Batch, game: StateGame | None = None) -> Played:
    """The moves and faults of every match of the batch; `game` is given where it has a state."""
    return Turns(image, batch, game).played()


def powers_of(image: Image, batch: Batch, memory: Memory | None = None) -> Powers:
    """The powers of a batch's programs, with nothing simulated or proved yet."""
    return Powers(image, batch.facts, batch.programs, batch.library, batch.limits, memory)


class Turns:
    """A batch in play: its programs take turns."""

    def __init__(self, image: Image, batch: Batch, game: StateGame | None) -> None:
        self.image = image
        self.batch = batch
        self.moves = Moves(batch, game)
        self.fuel = [0] * len(batch.matches) * batch.seats
        self.powers = powers_of(image, batch, Memory())
        self.suspects: set[int] = set()
        self.looked: dict[int, int] = {}
        self.parts = [
            Part(
                program, self.moves.row(slots), blind=not batch.alone and batch.seems_blind(program)
            )
            for program, all_slots in self.moves.lined_up.items()
            for slots in (_split(all_slots, 1) if batch.alone else [all_slots])
            if slots
        ]

    def played(self) -> Played:
        """Play to the end."""
        while self.parts:
            parts, self.parts = self.parts, []
            for part in parts:
                self._turn(part)
        moves = self.moves
        return Played(
            moves.columns(moves.shown),
            moves.columns(moves.made) if moves.shown is not moves.made else None,
            moves.faults,
            self.fuel,
            notes=self.powers.notes,
            looked=self.looked | dict.fromkeys(self.powers.drawn, ANYTHING),
            leaky=self.suspects,
        )

    def _turn(self, part: Part) -> None:
        """Let a part move, splitting it as far as its instance comes to its end."""
        pending = [part]
        while pending:
            part = pending.pop()
            try:
                self._move(part)
            except Ended as ended:
                self._share_out(part)
                pending += self._after(part, ended)
            else:
                self.parts += [part] if part.row.slots else []

    def _move(self, part: Part) -> None:
        """Make the moves of a turn. Raises `Ended`."""
        cohort = part.cohort or self._seated(part)
        rounds = self._rounds(part, cohort)
        part.ahead |= rounds > ROUNDS
        for _ in range(max(1, ROUNDS // rounds)):
            lines = self.moves.next(part.row, rounds)
            if lines:
                self.moves.add(part.row, self._answers(part, cohort, lines))
        over = self.moves.over(part.row, patient=not part.ahead)
        if over:
            self._leave(part, cohort, over)

    def _rounds(self, part: Part, cohort: Cohort) -> int:
        """The most rounds that the part's next call is to make."""
        spent, enough = cohort.instance.spent, self.batch.limits.fuel // DEAR
        if part.singly or spent > enough or not self.moves.foreseen:
            return 1
        unseen = part.blind and part.asked and spent * UNSEEN_ROUNDS <= enough * part.asked
        return UNSEEN_ROUNDS if unseen else ROUNDS

    def _after(self, part: Part, ended: Ended) -> list[Part]:
        """What is to be tried when a part's instance has come to its end."""
        if part.ahead:
            return [self._seeing(part)]
        over = self.moves.over(part.row)
        slots = [slot for slot in part.row.slots if slot not in over]
        if len(slots) > 1:
            rows = map(self.moves.row, _split(slots, -(-len(slots) // PARTS)))
            return [Part(part.program, row, blind=part.blind) for row in rows]
        if slots and part.asked > 1:
            return [Part(part.program, self.moves.row(slots), singly=True)]
        for slot in slots:
            self.moves.fault(slot, [ended.kind, ended.message])
        return []

    def _seeing(self, part: Part) -> Part:
        """The part, to be shown everything from the start."""
        self.moves.take_back(part.row)
        return Part(part.program, self.moves.row(part.row.slots))

    def _answers(self, part: Part, cohort: Cohort, lines: Sequence[Line]) -> list[Answer]:
        """The part's answers to lines. Raises `Ended`."""
        part.asked = len(lines)
        before = cohort.instance.burnt
        try:
            return cohort.play(lines)
        finally:
            part.burnt += cohort.instance.burnt - before

    def _seated(self, part: Part) -> Cohort:
        """The part's new cohort, taken through the rounds so far. Raises `Ended`."""
        part.cohort = cohort = self._cohort(part)
        past = self.moves.past(part.row)
        for asked in _split(past, 1 if part.singly else len(past)):
            answers = self._answers(part, cohort, [line for line, _ in asked])
            if [codes for codes, _ in answers] != [codes for _, codes in asked]:
                self.suspects.add(part.program)
        return cohort

    def _cohort(self, part: Part) -> Cohort:
        """A fresh cohort. In strict play nothing at all is shared, not even what others had simulated."""
        powers = powers_of(self.image, self.batch) if self.batch.alone else self.powers
        powers.notes, powers.drawn = self.powers.notes, self.powers.drawn
        try:
            cohort = Cohort(self.image, self.batch, part.program, part.row.slots, powers)
        except Ended as ended:
            part.burnt += ended.burnt
            raise
        part.burnt += cohort.instance.burnt
        return cohort

    def _leave(self, part: Part, cohort: Cohort, over: set[int]) -> None:
        """Drop the slots that have no move left."""
        self._share_out(part)
        part.row = self.moves.row([slot for slot in part.row.slots if slot not in over])
        try:
            self.looked |= cohort.drop(over)
        except Ended:
            part.cohort = None
            if part.ahead:
                part.blind = part.ahead = False
                self.moves.take_back(part.row)

    def _share_out(self, part: Part) -> None:
        """Charge the part's slots alike for the fuel it has burnt."""
        for slot in part.row.slots:
            self.fuel[slot] += part.burnt // len(part.row.slots)
        part.burnt = 0


def _split(items: list[T], size: int) -> list[list[T]]:
    """The items in lists of that size, but for the last."""
    return [items[start : start + size] for start in range(0, len(items), size or 1)]
