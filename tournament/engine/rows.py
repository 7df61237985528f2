"""The slots of a program that are asked for moves together, and what they are asked."""

import itertools
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from tournament.engine.batch import Batch

MIRRORED = "*"
"""Stands in a line for what the match next to it, which is the same one from the other seat, has just moved."""
UNSEEN = "-"
"""Stands for a line to programs that do not look at what others have moved."""

Getter = Callable[[str], Sequence[str]]
"""Takes moves out of a round."""


class Stretch(NamedTuple):
    """Slots of a row, from `first` to before `last`, whose places on the board stand side by side, from `place` on.

    They have made as many moves as one another, and are asked for `ahead` more.
    """

    first: int
    last: int
    place: int
    ahead: int


class Line(NamedTuple):
    """Asks the slots from `first` to before `last` for a move each; `text` is what they see before it."""

    first: int
    last: int
    text: str


class Sight(NamedTuple):
    """What slots see before a move that comes after `step` others of the same turn.

    Each getter is for the round before the one in which the slot at its place makes that move; `mark` is what goes
    behind.
    """

    step: int
    getters: list[tuple[int, Getter]]
    mark: str


class Ask(NamedTuple):
    """Slots of a row, in stretches from `first` to before `last`, that are asked for a move after each sight."""

    first: int
    last: int
    stretches: Sequence[Stretch]
    sights: list[Sight]


class Row:
    """Slots side by side, their `places` on the board, and those of the `others` whose moves they see, by turn.

    The last `paired` of them are both seats of a match, one next to the other, and see what they have just moved.
    `leads` is by how many rounds the others are ahead of each, up to the most that matters, and `plan` is what is asked
    as long as that is so, for which `steady` stands (see `Moves.next`). At most `longest` rounds have been moved in,
    and after `soonest` the first match is over.
    """

    def __init__(
        self, slots: list[int], places: list[int], others: list[list[int]], paired: int
    ) -> None:
        self.slots = slots
        self.places = places
        self.others = others
        self.paired = paired
        self.longest = self.soonest = 0
        self.steady = -1
        self.leads: list[list[int]] = []
        self.plan: list[Ask] = []

    def planned(self, ahead: list[int], done: list[int], *, unseen: bool = False) -> list[Ask]:
        """What is asked for every slot to go so many moves `ahead` of those that are `done`, by place.

        If the moves of others are to be `unseen`, nothing is shown.
        """
        stretches = self._stretches(ahead, done)
        plan, step = [], 0
        for level in sorted({stretch.ahead for stretch in stretches if stretch.ahead > 0}):
            for first, last in runs([stretch.ahead >= level for stretch in stretches]):
                run = stretches[first:last]
                sights = [
                    Sight(each, [], UNSEEN) if unseen else self._sight(run, each, done)
                    for each in range(step, level)
                ]
                plan.append(Ask(run[0].first, run[-1].last, run, sights))
            step = level
        return plan

    def _stretches(self, ahead: list[int], done: list[int]) -> list[Stretch]:
        counts = [done[place] for place in self.places]
        starts = [place - position for position, place in enumerate(self.places)]
        stretches, first = [], 0
        for (start, _, more), same in itertools.groupby(zip(starts, counts, ahead, strict=True)):
            last = first + len([*same])
            stretches.append(Stretch(first, last, start + first, more))
            first = last
        return stretches

    def _sight(self, stretches: Sequence[Stretch], step: int, done: Sequence[int]) -> Sight:
        first, last = stretches[0].first, stretches[-1].last
        known = max(first, min(last, len(self.slots) - self.paired)) if step else last
        getters: list[tuple[int, Getter]] = [
            (place, itemgetter(*others[start : min(end, known)]))
            for others in self.others
            for start, end, place, _ in stretches
            if start < known and done[place] + step
        ]
        return Sight(step, getters, MIRRORED * (last - known))


def lined_up(batch: Batch, slots: Sequence[int]) -> list[int]:
    """A program's slots in such an order that those which can make as many moves in a turn stand side by side.

    They still do when some of their matches are over, for these stand together, too.
    """

    def rank(slot: int) -> tuple[bool, bool, int]:
        own, lineup = batch.program_of(slot), batch.lineup_at(slot)
        return lineup.count(own) > 1, max(lineup) > own, batch.horizons[slot // batch.seats]

    return sorted(slots, key=rank)


def paired(slots: Sequence[int]) -> int:
    """How many of the last slots are both seats of a match of two, one next to the other."""
    pairs = zip(slots[-2::-2], slots[::-2], strict=False)
    met = itertools.takewhile(lambda pair: pair[0] % 2 == 0 and pair[1] == pair[0] + 1, pairs)
    return 2 * sum(1 for _ in met)


def runs(chosen: Sequence[bool]) -> list[tuple[int, int]]:
    """The runs of positions that are chosen: each from its first to before its last."""
    found, position = [], 0
    for held, run in itertools.groupby(chosen):
        start, position = position, position + len([*run])
        if held:
            found.append((start, position))
    return found
