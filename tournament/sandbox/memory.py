"""What real moves have had simulated, known to the other matches of their batch.

Many ask the same: the repetitions of a lineup, both of its seats, and those who move again because their batch was
split. Their simulation is not run again. What they are told, what they pay, and what their move knows from then on, is
what it would be if it were.
"""

from dataclasses import dataclass

from tournament.sandbox.call import COIN, TAPE, Fact, Frame, Key, Top, Trace
from tournament.sandbox.statement import size

MOST_KEPT = 500_000
"""Bound on what is kept, in joint moves of histories and the like: some dozens of megabytes."""
BESIDES = 4
"""What a fact takes besides its history, in the same measure."""

Place = tuple[Key, str, str]
"""A call, and as far as anything hangs on them the public coin of its match and its private tape."""


@dataclass(frozen=True)
class Simulated:
    """What a simulation came to: the answer, its price, and its frame and trace as they were at its end."""

    answer: str
    price: int
    frame: Frame
    trace: Trace

    def fits(self, top: Top, fuel: int) -> bool:
        """Whether it would come to the same in this move, with so much fuel.

        There must be enough, and nothing that is known there already may come up in it.
        """
        return self.price < fuel and self.trace.known.keys().isdisjoint(top.known)


class Memory:
    """Simulations that real moves have asked for."""

    def __init__(self) -> None:
        self._kept: dict[Place, Simulated] = {}
        self._size = 0

    def find(self, key: Key, tape: str, fuel: int, top: Top) -> Simulated | None:
        """What a call would come to in this move."""
        for place in ((key, "", ""), (key, top.coin, ""), (key, top.coin, tape)):
            if place in self._kept:
                known = self._kept[place]
                return known if known.fits(top, fuel) else None
        return None

    def keep(self, key: Key, tape: str, top: Top, simulated: Simulated) -> None:
        """Keep what a call came to, for all moves with whose tapes it would come to the same."""
        trace = simulated.trace
        room = sum(map(_size, trace.known))
        if self._size + room > MOST_KEPT:
            self._kept.clear()
            self._size = 0
        if room <= MOST_KEPT:
            coin, tape = top.coin if trace.tie >= COIN else "", tape if trace.tie == TAPE else ""
            self._kept[key, coin, tape] = simulated
            self._size += room


def _size(fact: Fact) -> int:
    about, rest = fact
    if isinstance(about, tuple):  # a call
        return BESIDES + len(about[2])
    return BESIDES + size(about) + len(rest)
