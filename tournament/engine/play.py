"""Plays a batch of matches: each program plays all its matches in one instance, and the programs take turns.

In a match, a program can move as long as it has not made more moves than the others. So in its next turn it usually
has two moves to make in every match: one for a round in which the others have moved already, and one that they will
answer. One call to the instance asks for both.

This is fast play. It gives the same results as strict play, which uses a fresh instance for every seat of every match.
The reason is that a call for many moves gets the fuel and memory of a single move. If that ends the instance, its
matches are split up and played again from the recorded moves, down to single moves of single matches, which is strict
play. What could still differ is that a program carries something from one match to another; `audit.py` checks that.
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
"""The number of parts into which the matches of an instance are split when the instance has ended."""
DEAR = 8
"""If a call used more than this fraction (one in `DEAR`) of the fuel limit, the next call asks for one round only."""
UNSEEN_ROUNDS = 100
"""The most rounds in one call to a program that does not read the opponents' moves."""


@dataclass
class Part:
    """A group of slots of one program that move together in one instance, their `cohort`.

    If `cohort` is None, a new instance must be made before they move. If `blind`, the program does not seem to read the
    opponents' moves, so these need not be shown. If `ahead`, moves were asked for without showing them; neither is
    ever set in strict play. `asked` is the number of lines in the last call; if `singly`, every call has one line.
    `fuel_used` is the fuel used that has not yet been shared out among the slots.
    """

    program: int
    row: Row
    cohort: Cohort | None = None
    blind: bool = False
    ahead: bool = False
    asked: int = 0
    singly: bool = False
    fuel_used: int = 0


def play(image: Image, batch: Batch, game: StateGame | None = None) -> Played:
    """Play the batch and return the moves and faults of all matches; `game` is needed only if it has a state."""
    return Turns(image, batch, game).played()


def powers_of(image: Image, batch: Batch, memory: Memory | None = None) -> Powers:
    """Return what answers the programs' calls to `simulate` and `proves`, with nothing simulated or proved yet."""
    return Powers(image, batch.facts, batch.programs, batch.library, batch.limits, memory)


class Turns:
    """Plays one batch by letting its programs take turns."""

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
        """Play all matches to the end and return the result."""
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
        """Let a part make its moves; if its instance ends, split the part and try again with the pieces."""
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
        """Make the moves of one turn. Raises `Ended` if the instance ends."""
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
        """Return for how many rounds at most the next call to the part asks."""
        spent, enough = cohort.instance.spent, self.batch.limits.fuel // DEAR
        if part.singly or spent > enough or not self.moves.foreseen:
            return 1
        unseen = part.blind and part.asked and spent * UNSEEN_ROUNDS <= enough * part.asked
        return UNSEEN_ROUNDS if unseen else ROUNDS

    def _after(self, part: Part, ended: Ended) -> list[Part]:
        """Return the parts that are to be tried after a part's instance has ended.

        If the part was a single move of a single match already, the fault is recorded and the list is empty.
        """
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
        """Return a part with the same slots that is shown all moves, in a new instance."""
        self.moves.take_back(part.row)
        return Part(part.program, self.moves.row(part.row.slots))

    def _answers(self, part: Part, cohort: Cohort, lines: Sequence[Line]) -> list[Answer]:
        """Return the part's answers to lines, and count the fuel used. Raises `Ended`."""
        part.asked = len(lines)
        before = cohort.instance.fuel_used
        try:
            return cohort.play(lines)
        finally:
            part.fuel_used += cohort.instance.fuel_used - before

    def _seated(self, part: Part) -> Cohort:
        """Load the part into a new instance, replay the rounds so far in it, and return it. Raises `Ended`.

        A program that now answers differently is noted as a suspect: it may carry something between its matches.
        """
        part.cohort = cohort = self._cohort(part)
        past = self.moves.past(part.row)
        for asked in _split(past, 1 if part.singly else len(past)):
            answers = self._answers(part, cohort, [line for line, _ in asked])
            if [codes for codes, _ in answers] != [codes for _, codes in asked]:
                self.suspects.add(part.program)
        return cohort

    def _cohort(self, part: Part) -> Cohort:
        """Return the slots of the part in a new instance. Raises `Ended`.

        In strict play, instances share nothing that could change a move, not even the results of simulations.
        """
        powers = powers_of(self.image, self.batch) if self.batch.alone else self.powers
        powers.notes, powers.drawn = self.powers.notes, self.powers.drawn
        try:
            cohort = Cohort(self.image, self.batch, part.program, part.row.slots, powers)
        except Ended as ended:
            part.fuel_used += ended.fuel_used
            raise
        part.fuel_used += cohort.instance.fuel_used
        return cohort

    def _leave(self, part: Part, cohort: Cohort, over: set[int]) -> None:
        """Remove the slots that are over from the part and its instance, and note what their program has read."""
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
        """Divide the fuel that the part has used equally among its slots."""
        for slot in part.row.slots:
            self.fuel[slot] += part.fuel_used // len(part.row.slots)
        part.fuel_used = 0


def _split(items: list[T], size: int) -> list[list[T]]:
    """Return the items in lists of the given size; the last list may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), size or 1)]
