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
ROUNDS = 2
"""The most rounds of a match that a program can move in before the others do."""

Codes = list[str]
"""The moves of a slot, as codes, by round."""


class Line(NamedTuple):
    """Asks the slots from `first` to before `last` for a move each; `text` is what they see before it."""

    first: int
    last: int
    text: str


class Row:
    """Slots side by side, with their moves at hand: `made` by them, and `seen` by turn, from the own on, after noise.

    The last `paired` of them are both seats of a match, one next to the other.
    """

    def __init__(self, slots: list[int], made: list[Codes], seen: list[list[Codes]]) -> None:
        self.slots = slots
        self.made = made
        self.seen = seen
        pairs = zip(slots[-2::-2], slots[::-2], strict=False) if len(seen) == 2 else ()
        met = itertools.takewhile(lambda pair: pair[0] % 2 == 0 and pair[1] == pair[0] + 1, pairs)
        self.paired = 2 * sum(1 for _ in met)


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

    @property
    def foreseen(self) -> bool:
        """Whether all that a round brings is known as soon as the moves are made."""
        return self._noise is None and self._episodes is None

    def row(self, slots: list[int]) -> Row:
        """These slots side by side."""
        turns = range(self._batch.seats)
        seen = [[self.shown[self._batch.turned(slot, turn)] for slot in slots] for turn in turns]
        return Row(slots, [self.made[slot] for slot in slots], seen)

    def over(self, row: Row) -> set[int]:
        """The slots of the row that have no move left to make."""
        done = map(len, row.made)
        return {
            slot for slot, count in zip(row.slots, done, strict=True) if count >= self._until[slot]
        }

    def next(self, row: Row, rounds: int) -> list[Line]:
        """What the row is asked next: for all the moves that it can make now, but no more rounds of them."""
        done = [*map(len, row.made)]
        ahead = self._ahead(row, done, rounds)
        return [
            self._line(row, first, last, [count - 1 + step for count in done[first:last]], step)
            for step in range(min(rounds, max(ahead)))
            for first, last in _runs([count > step for count in ahead])
        ]

    def past(self, row: Row) -> list[tuple[Line, str]]:
        """What the row was asked so far, and what it answered."""
        done = [*map(len, row.made)]
        return [
            (
                self._line(row, first, last, [number - 1] * (last - first)),
                "".join([codes[number] for codes in row.made[first:last]]),
            )
            for number in range(max(done))
            for first, last in _runs([count > number for count in done])
        ]

    def _ahead(self, row: Row, done: list[int], rounds: int) -> list[int]:
        """How many moves each slot can make: until it has moved once more than the others of its match."""
        others = [map(len, column) for column in row.seen[1:]]
        ready = others[0] if len(others) == 1 else map(min, *others)
        left = [*map(sub, map(self._until.__getitem__, row.slots), done)]
        ahead = [count + 1 for count in map(sub, ready, done)]
        if row.paired and self.foreseen:
            ahead[-row.paired :] = [rounds] * row.paired
        return ahead if min(left) >= ROUNDS else [*map(min, ahead, left)]

    def _line(self, row: Row, first: int, last: int, before: Sequence[int], step: int = 0) -> Line:
        """A line that shows the joint moves of these rounds; at a later step, some are not known here yet."""
        if before[0] < 0:
            return Line(first, last, self._observed(row.slots[first:last], before))
        known = min(last, len(row.slots) - row.paired) if step else last
        columns = [
            "".join(map(getitem, column[first:known], before))
            for column in row.seen[1 if self.foreseen else 0 :]
        ]
        text = "".join(columns) + MIRRORED * (last - max(first, known))
        return Line(first, last, text + self._observed(row.slots[first:last], before))

    def _observed(self, slots: Sequence[int], before: Sequence[int]) -> str:
        if self._episodes is None:
            return ""
        return self._episodes.seen(slots, [number + 1 for number in before])

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
