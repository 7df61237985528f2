"""Plans the requests for moves to the slots of one program that move together.

A slot is one seat of one match of the batch, numbered through the batch. A row is a list of such slots. A line is one
request to the guest (the interpreter inside the sandbox) for one move of each of a range of slots in a row.
"""

import itertools
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from tournament.engine.batch import Batch

MIRRORED = "*"
"""Stands in a line for the last move of the neighbouring slot, which is the other seat of the same match."""
UNSEEN = "-"
"""The text of a line that shows a program nothing of what the others moved in the round before."""

Getter = Callable[[str], Sequence[str]]
"""Picks the moves of some slots out of the string with all moves of a round."""


class Stretch(NamedTuple):
    """Neighbouring slots of a row, from `first` to before `last`, that can be handled alike.

    They have consecutive positions on the board, starting at `place`, and have all made equally many moves. Each of
    them is asked for `ahead` more moves.
    """

    first: int
    last: int
    place: int
    ahead: int


class Line(NamedTuple):
    """A request for one move of each slot from `first` to before `last`; `text` is what is shown to them first."""

    first: int
    last: int
    text: str


class Sight(NamedTuple):
    """Where to find what slots are shown before a move that comes after `step` other moves of the same turn.

    Each getter comes with the board position of a slot. It is applied to the round before the one in which that slot
    makes the move. `mark` is the text that is appended to what the getters return.
    """

    step: int
    getters: list[tuple[int, Getter]]
    mark: str


class Ask(NamedTuple):
    """Slots of a row, from `first` to before `last`, that are asked for one move for each of the `sights`."""

    first: int
    last: int
    stretches: Sequence[Stretch]
    sights: list[Sight]


class Row:
    """Slots of one program that are asked for moves together.

    `places` are their positions on the board. `others` are the positions of the seats whose moves they are shown: one
    list for each distance in seats, in the order of the slots. Among the last `paired` slots, each two neighbours are
    both seats of one match, so the guest itself knows what they have just moved. `leads` says by how many rounds the
    others are ahead of each slot, up to the most that matters; `plan` is what is asked while the leads stay the same.
    `steady` is the state of the batch in which the plan was last found to hold (see `Moves.next`). No slot has moved in
    more than `longest` rounds, and the first match is over after `soonest` rounds.
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
        """Return the requests that let every slot make more moves: `ahead[n]` for the slot at position n of the row.

        `done` counts the moves made so far, by position on the board. With `unseen`, no moves of others are shown.
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
        """Return the slots of the row as stretches, each as long as possible."""
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
    """Return a program's slots in an order in which those that can make equally many moves in a turn are neighbours.

    Slots of matches with the same horizon are neighbours as well, so this still holds when some matches are over.
    """

    def rank(slot: int) -> tuple[bool, bool, int]:
        own, lineup = batch.program_of(slot), batch.lineup_at(slot)
        return lineup.count(own) > 1, max(lineup) > own, batch.horizons[slot // batch.seats]

    return sorted(slots, key=rank)


def paired(slots: Sequence[int]) -> int:
    """Return how many slots at the end form pairs of neighbours that are both seats of one match with two seats."""
    pairs = zip(slots[-2::-2], slots[::-2], strict=False)
    met = itertools.takewhile(lambda pair: pair[0] % 2 == 0 and pair[1] == pair[0] + 1, pairs)
    return 2 * sum(1 for _ in met)


def runs(chosen: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the runs of consecutive chosen positions, each as its first position and the one after its last."""
    found, position = [], 0
    for held, run in itertools.groupby(chosen):
        start, position = position, position + len([*run])
        if held:
            found.append((start, position))
    return found
