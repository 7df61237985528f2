"""What has been moved in the matches of a batch, and what can be moved next."""

import itertools
from collections import deque
from collections.abc import Mapping, Sequence
from operator import getitem, sub
from typing import NamedTuple

from tournament.engine.batch import Batch
from tournament.engine.episodes import Episodes
from tournament.engine.noise import Noise
from tournament.game import StateGame
from tournament.match import Fault

MIRRORED = "*"
"""Stands in a line for what the match next to it, which is the same one from the other seat, has just moved."""
UNSEEN = "-"
"""Stands for a line to programs that do not look at what others have moved."""
ROUNDS = 2
"""The most rounds of a match that a program can move in before the others do, if it looks at what they do."""

Codes = list[str]
"""The moves of a slot, as codes, by round."""


class Line(NamedTuple):
    """Asks the slots from `first` to before `last` for a move each; `text` is what they see before it."""

    first: int
    last: int
    text: str


class Ask(NamedTuple):
    """Slots of a row that are asked for a move, from `first` to before `last`.

    They have made `step` moves since this was planned, and if they are `even`, as many as one another in all. Those
    from `known` on see what they have just moved against one another.
    """

    first: int
    last: int
    step: int
    even: bool
    known: int


class Row:
    """Slots side by side, with their moves at hand: `made` by them, and `seen` by turn, after noise.

    The last `paired` of them are both seats of a match, one next to the other. `leads` is by how many rounds the
    others are ahead of each, up to the most that matters, and `plan` is what is asked as long as that is so, for which
    `steady` stands (see `Moves.next`). At most `longest` rounds have been moved in, and after `soonest` the first match
    is over.
    """

    def __init__(self, slots: list[int], made: list[Codes], seen: list[list[Codes]]) -> None:
        self.slots = slots
        self.made = made
        self.seen = seen
        self.longest = self.soonest = 0
        self.steady = -1
        self.leads: list[list[int]] = []
        self.plan: list[Ask] = []
        pairs = zip(slots[-2::-2], slots[::-2], strict=False)
        met = itertools.takewhile(lambda pair: pair[0] % 2 == 0 and pair[1] == pair[0] + 1, pairs)
        self.paired = 2 * sum(1 for _ in met)


def lined_up(batch: Batch, slots: Sequence[int]) -> list[int]:
    """A program's slots in such an order that those which can make as many moves in a turn stand side by side."""

    def rank(slot: int) -> tuple[bool, bool]:
        own = batch.program_of(slot)
        others = [batch.program_of(other) for other in batch.others(slot)]
        return own in others, max(others) > own

    return sorted(slots, key=rank)


class Moves:
    """The moves by slot: `made` by the programs, and `shown`, which is the same after noise."""

    def __init__(self, batch: Batch, game: StateGame | None) -> None:
        self._batch = batch
        slots = range(len(batch.matches) * batch.seats)
        self._noise = Noise(batch) if batch.repetition.noise else None
        self._episodes = Episodes(game, batch) if game else None
        self.made: list[Codes] = [[] for _ in slots]
        self.shown: list[Codes] = [[] for _ in slots] if self._noise else self.made
        self.faults: dict[int, Fault] = {}
        self._until = [batch.horizons[slot // batch.seats] for slot in slots]
        self._changes = 0
        """How often a plan has changed, or a match has ended early."""

    @property
    def foreseen(self) -> bool:
        """Whether all that a round brings is known as soon as the moves are made."""
        return self._noise is None and self._episodes is None

    def row(self, slots: list[int]) -> Row:
        """These slots side by side."""
        turns = range(0 if not self.foreseen else 1, self._batch.seats)
        seen = [[self.shown[self._batch.turned(slot, turn)] for slot in slots] for turn in turns]
        row = Row(slots, [self.made[slot] for slot in slots], seen)
        if not self.foreseen or self._batch.seats > 2:
            row.paired = 0
        return row

    def over(self, row: Row, *, patient: bool = False) -> set[int]:
        """The slots of the row that have no move left to make; if patient, none while a turn may end all the others."""
        if row.steady == self._changes and row.longest < row.soonest:
            return set()
        left = {slot: self._until[slot] - len(self.made[slot]) for slot in row.slots}
        soon = 0 < max(left.values()) <= ROUNDS
        return set() if patient and soon else {slot for slot, rounds in left.items() if rounds <= 0}

    def next(self, row: Row, rounds: int) -> list[Line]:
        """What the row is asked next: for all the moves that it can make now, but no more rounds of them.

        With more than `ROUNDS` it is shown nothing. As long as no plan changes, every turn is like the one before, and
        nothing need be compared: whoever is further ahead than by a round either waits, and then plans anew every turn,
        or is through.
        """
        if rounds > ROUNDS:
            return self._unseen(row, rounds)
        if row.steady != self._changes or rounds != ROUNDS or row.longest + rounds > row.soonest:
            self._look(row, rounds)
        row.longest += rounds
        return [self._planned(row, ask) for ask in row.plan]

    def _unseen(self, row: Row, rounds: int) -> list[Line]:
        left = min(self._until[slot] - len(self.made[slot]) for slot in row.slots)
        self._changes += 1
        return [Line(0, len(row.slots), UNSEEN)] * min(rounds, left)

    def take_back(self, row: Row) -> None:
        """Forget the moves of the row that were made more than one before the others': they can be made again."""
        for slot in row.slots:
            known = min(len(self.made[other]) for other in self._batch.others(slot))
            del self.made[slot][known + 1 :]

    def _look(self, row: Row, rounds: int) -> None:
        """See how far the row's matches are, and whether its plan still holds."""
        done = [*map(len, row.made)]
        leads = [
            [min(lead, ROUNDS) for lead in map(sub, map(len, column), done)] for column in row.seen
        ]
        row.longest, row.soonest = max(done), min(self._until[slot] for slot in row.slots)
        ending = row.longest + rounds > row.soonest
        if ending or leads != row.leads or rounds != ROUNDS:
            row.plan = self._plan(row, done, leads, rounds)
            row.leads = [] if ending or not min(done) or rounds != ROUNDS else leads
            self._changes += 1
        else:
            row.steady = self._changes

    def _plan(self, row: Row, done: list[int], leads: list[list[int]], most: int) -> list[Ask]:
        ahead = self._ahead(row, done, leads, most)
        unpaired = len(row.slots) - row.paired
        plan = []
        for step in range(min(most, max(ahead))):
            for first, last in _runs([count > step for count in ahead]):
                even = len({*zip(done[first:last], ahead[first:last], strict=True)}) == 1
                known = max(first, min(last, unpaired)) if step else last
                plan.append(Ask(first, last, step, even, known))
        return plan

    def _ahead(self, row: Row, done: list[int], leads: list[list[int]], most: int) -> list[int]:
        """How many moves each slot can make: until it has moved once more than the others of its match."""
        left = [self._until[slot] - count for slot, count in zip(row.slots, done, strict=True)]
        others = leads if self.foreseen else leads[1:]
        ahead = [min(lead) + 1 for lead in zip(*others, strict=True)]
        if row.paired:
            ahead[-row.paired :] = [most] * row.paired
        return [*map(min, ahead, left)]

    def past(self, row: Row) -> list[tuple[Line, str]]:
        """What the row was asked so far, and what it answered."""
        done = [*map(len, row.made)]
        return [
            (
                self._line(row, first, last, last, [number - 1] * (last - first)),
                "".join([codes[number] for codes in row.made[first:last]]),
            )
            for number in range(max(done))
            for first, last in _runs([count > number for count in done])
        ]

    def _planned(self, row: Row, ask: Ask) -> Line:
        first, last, step, even, known = ask
        if even:
            before = [len(row.made[first]) + step - 1] * (last - first)
        else:
            before = [len(made) + step - 1 for made in row.made[first:last]]
        return self._line(row, first, last, known, before)

    def _line(self, row: Row, first: int, last: int, known: int, before: list[int]) -> Line:
        """A line; `before` is by slot the round that it has not seen yet, or -1."""
        text = ""
        if before[0] >= 0:
            for column in row.seen:
                text += "".join(map(getitem, column[first:known], before))
            text += MIRRORED * (last - known)
        if self._episodes:
            text += self._episodes.seen(row.slots[first:last], [number + 1 for number in before])
        return Line(first, last, text)

    def add(self, row: Row, line: Line, codes: str, faults: Mapping[int, Sequence[str]]) -> None:
        """Add what was answered to a line: the codes of the moves, and by position in it the faults."""
        if self.foreseen and not faults:
            deque(map(list.append, row.made[line.first : line.last], codes), 0)
            return
        for position, slot in enumerate(row.slots[line.first : line.last]):
            # Whoever met a program at fault in the line before was still asked once more.
            if len(self.made[slot]) < self._until[slot]:
                if position in faults:
                    self.fault(slot, faults[position])
                else:
                    self._add(slot, codes[position])

    def _add(self, slot: int, code: str) -> None:
        self.made[slot].append(code)
        if self._noise:
            self.shown[slot].append(self._noise.disturbed(slot, len(self.shown[slot]), code))
        if self._episodes:
            self._step(slot // self._batch.seats, self._episodes)

    def fault(self, slot: int, told: Sequence[str]) -> None:
        """A slot has broken a rule instead of moving: its match is over after this round."""
        number = len(self.made[slot])
        for other in self._batch.others(slot):
            # Whoever is shown nothing may have been further: to where the match does not come.
            if other in self.faults and self.faults[other].round > number:
                del self.faults[other]
        self.faults[slot] = Fault(slot % self._batch.seats, told[0], number, *told[1:])
        self._end(slot // self._batch.seats, number + 1)
        self._until[slot] = number

    def columns(self, moves: Sequence[Codes]) -> list[str]:
        """Moves as strings by slot. A round in which a seat broke a rule was not played: it is left out."""
        ends = {slot // self._batch.seats: fault.round for slot, fault in self.faults.items()}
        return [
            "".join(codes[: ends.get(slot // self._batch.seats)])
            for slot, codes in enumerate(moves)
        ]

    def _step(self, match: int, episodes: Episodes) -> None:
        """Bring the state of a match on, if all have moved."""
        start = match * self._batch.seats
        played = self.shown[start : start + self._batch.seats]
        number = episodes.rounds(match)
        if min(map(len, played)) > number:
            episodes.step(match, [codes[number] for codes in played])
            if episodes.over(match):
                self._end(match, number + 1)

    def _end(self, match: int, rounds: int) -> None:
        self._changes += 1
        start = match * self._batch.seats
        for slot in range(start, start + self._batch.seats):
            self._until[slot] = min(self._until[slot], rounds)


def _runs(chosen: Sequence[bool]) -> list[tuple[int, int]]:
    """The stretches of positions that are chosen: each from its first to before its last."""
    if all(chosen):
        return [(0, len(chosen))]
    runs, position = [], 0
    for held, run in itertools.groupby(chosen):
        start, position = position, position + sum(1 for _ in run)
        if held:
            runs.append((start, position))
    return runs
