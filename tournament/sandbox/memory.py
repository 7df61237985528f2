"""Keeps the simulations that real moves have asked for, so that other matches of the batch need not run them again.

Many moves ask for the same simulation: those of the repetitions of a lineup, those of both of its seats, and those
that are made again because their batch was split. The answer that such a move gets, the fuel that it is charged, and
what it knows afterwards are the same as if the simulation had been run again.
"""

from dataclasses import dataclass

from tournament.sandbox.call import COIN, TAPE, Fact, Frame, Key, Top, Trace
from tournament.sandbox.statement import size

MOST_KEPT = 500_000
"""The limit on the size of all that is kept, counted in joint moves of histories: some dozens of megabytes."""
BESIDES = 4
"""The size of a fact besides that of its history, in the same unit."""

Place = tuple[Key, str, str]
"""A call, the public coin of its match, and its private tape.

The coin and the tape are each empty if the result does not depend on them.
"""


@dataclass(frozen=True)
class Simulated:
    """The result of a simulation: the answer, its price in fuel, and its frame and trace as they were at its end."""

    answer: str
    price: int
    frame: Frame
    trace: Trace

    def fits(self, top: Top, fuel: int) -> bool:
        """Whether the simulation would have the same result in this move, with so much fuel.

        That is so if the price is less than the fuel and the simulation learned nothing that the move already knows.
        """
        return self.price < fuel and self.trace.known.keys().isdisjoint(top.known)


class Memory:
    """The simulations that are kept, by call."""

    def __init__(self) -> None:
        self._kept: dict[Place, Simulated] = {}
        self._size = 0

    def find(self, key: Key, tape: str, fuel: int, top: Top) -> Simulated | None:
        """Return the kept result that a call would also have in this move, or None if there is none."""
        for place in ((key, "", ""), (key, top.coin, ""), (key, top.coin, tape)):
            if place in self._kept:
                known = self._kept[place]
                return known if known.fits(top, fuel) else None
        return None

    def keep(self, key: Key, tape: str, top: Top, simulated: Simulated) -> None:
        """Keep the result of a call for all moves whose public coin and private tape would lead to the same result.

        If there is no space left for it, everything that was kept before is dropped.
        """
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
    """Return the size of a fact in the unit of `MOST_KEPT`."""
    about, rest = fact
    if isinstance(about, tuple):  # a call
        return BESIDES + len(about[2])
    return BESIDES + size(about) + len(rest)
