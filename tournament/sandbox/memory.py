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


@dataclass(frozen=True)
class Simulated:
    """The result of a simulation: the answer, its price in fuel, and its frame and trace as they were at its end."""

    answer: str
    price: int
    frame: Frame
    trace: Trace


class Memory:
    """The simulations that are kept, by call, public coin and private tape.

    The coin and the tape are each empty if the result does not depend on them.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[Key, str, str], Simulated] = {}
        self._size = 0

    def find(self, key: Key, tape: str, fuel: int, top: Top) -> Simulated | None:
        """Return the kept result that a call would also have in this move with so much fuel, or None.

        The price must be less than the fuel, and the simulation must have learned nothing that the move already knows.
        """
        names = ((key, "", ""), (key, top.coin, ""), (key, top.coin, tape))
        known = next((self._kept[name] for name in names if name in self._kept), None)
        fits = known and known.price < fuel and known.trace.known.keys().isdisjoint(top.known)
        return known if fits else None

    def keep(self, key: Key, tape: str, top: Top, simulated: Simulated) -> None:
        """Keep the result of a call for all moves whose public coin and private tape would lead to the same result.

        If there is no space left for it, everything that was kept before is dropped.
        """
        trace = simulated.trace
        length = sum(map(_size, trace.known))
        if self._size + length > MOST_KEPT:
            self._kept.clear()
            self._size = 0
        if length <= MOST_KEPT:
            coin = top.coin if trace.randomness >= COIN else ""
            self._kept[key, coin, tape if trace.randomness == TAPE else ""] = simulated
            self._size += length


def _size(fact: Fact) -> int:
    """Return the size of a fact in the unit of `MOST_KEPT`."""
    about, rest = fact
    if isinstance(about, tuple):  # a call
        return BESIDES + len(about[2])
    return BESIDES + size(about) + len(rest)
