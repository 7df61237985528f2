"""What is played and what came of it: fixtures, faults and outcomes."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

T = TypeVar("T")

FAULTS = ("load", "error", "illegal", "fuel", "memory", "crash")
"""Kinds of fault: would not load; raised; moved illegally; ran out of fuel or memory; killed its interpreter."""


@dataclass(frozen=True, order=True)
class Fixture:
    """A match to be played: program digests by seat, and which repetition it is (from 0)."""

    lineup: tuple[str, ...]
    repetition: int


@dataclass(frozen=True)
class Fault:
    """A rule that a bot broke: who, what kind, in which round (from 0), and the bot's own traceback."""

    seat: int
    kind: str
    round: int
    message: str
    traceback: str = ""
    output: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of a fixture.

    `moves[seat]` is a string with a character for each round that was played (see `game.code`); `intended` is the
    same before noise, None in a match without noise. `payoffs[seat]` is the total over the match; None for a
    seat whose match another seat's fault ended: such a match counts for nobody but those at fault. `rounds` is
    the horizon, whether or not play came to it. `fuel[seat]` is the seat's share of the fuel its batch burnt.
    `checked` says by seat whether it was replayed alone and came out the same.
    """

    fixture: Fixture
    rounds: int
    moves: tuple[str, ...]
    payoffs: tuple[float | None, ...]
    intended: tuple[str, ...] | None = None
    faults: tuple[Fault, ...] = ()
    fuel: tuple[int, ...] = ()
    checked: tuple[bool, ...] = ()
    notes: tuple[tuple[int, int, str], ...] = ()
    """Seat, round and reason where something could not be decided within its bounds."""
    leaky: tuple[str, ...] = field(default=())
    """Digests of programs that played this match differently alone than in a batch."""

    def standing_for(self, fixture: Fixture) -> "Outcome":
        """The same for a fixture of the same programs, each perhaps so many seats further round."""
        turns = range(len(fixture.lineup))
        turn = next(t for t in turns if turned(self.fixture.lineup, t) == fixture.lineup)
        return replace(self._turned(turn) if turn else self, fixture=fixture)

    def _turned(self, turn: int) -> "Outcome":
        """What was at a seat is now at the one so many seats before it."""
        seats = len(self.moves)
        return replace(
            self,
            moves=turned(self.moves, turn),
            payoffs=turned(self.payoffs, turn),
            intended=self.intended and turned(self.intended, turn),
            faults=tuple(replace(each, seat=(each.seat - turn) % seats) for each in self.faults),
            fuel=turned(self.fuel, turn),
            checked=turned(self.checked, turn),
            notes=tuple(((seat - turn) % seats, n, why) for seat, n, why in self.notes),
        )


def turned(by_seat: tuple[T, ...], turn: int) -> tuple[T, ...]:
    """The same when everybody has changed seats: what was at a seat is at the one so many before it."""
    return by_seat[turn:] + by_seat[:turn]
