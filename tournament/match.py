"""The data types of a match: the fixture to be played, the faults of bots, and the outcome."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

T = TypeVar("T")

FAULTS = ("load", "error", "illegal", "fuel", "memory", "crash")
"""Kinds of fault: the bot did not load, raised an error, moved illegally, ran out of fuel, ran out of memory, or
crashed its interpreter."""


@dataclass(frozen=True, order=True)
class Fixture:
    """A match to be played: program digests by seat, and which repetition it is (from 0)."""

    lineup: tuple[str, ...]
    repetition: int


@dataclass(frozen=True)
class Fault:
    """A rule that a bot broke: its seat, the kind of fault, the round (from 0), and the bot's own traceback."""

    seat: int
    kind: str
    round: int
    message: str
    traceback: str = ""
    output: str = ""


@dataclass(frozen=True)
class Outcome:
    """The result of playing a fixture.

    `moves[seat]` is a string with one character for each round that was played (see `game.code`). `intended` holds the
    moves before noise replaced some of them; it is None in a match without noise. `payoffs[seat]` is the total over the
    match. After a fault only the seats at fault have payoffs, and those of the other seats are None. `rounds` is the
    horizon, even if a fault ended the match earlier. `fuel[seat]` is the seat's share of the fuel used by its batch.
    `checked[seat]` says whether the seat was replayed alone and played the same.
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
    """(seat, round, reason) for each seat where a proof reached its bounds before it was decided."""
    leaky: tuple[str, ...] = field(default=())
    """Digests of the leaky programs in this match: they played differently in a batch than alone."""

    @property
    def content(self) -> tuple[object, ...]:
        """The fixture, the moves, the payoffs and the faults, which must be the same when the match is played again.

        The messages of faults are left out, because they may show memory addresses or other things that differ from
        one instance to another.
        """
        fixture = self.fixture
        faults = sorted((each.seat, each.kind, each.round) for each in self.faults)
        played = (self.moves, self.intended, self.payoffs)
        return (fixture.lineup, fixture.repetition, self.rounds, *played, faults)

    def standing_for(self, fixture: Fixture) -> "Outcome":
        """Return this outcome as the outcome of another fixture, whose lineup must be a rotation of this one's."""
        turns = range(len(fixture.lineup))
        turn = next(t for t in turns if turned(self.fixture.lineup, t) == fixture.lineup)
        return replace(self._turned(turn) if turn else self, fixture=fixture)

    def _turned(self, turn: int) -> "Outcome":
        """Return this outcome with everything moved `turn` seats down: what was at seat s is at seat s - turn."""
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
    """Return the values rotated by `turn` seats: what was at seat s is now at seat s - turn, counted round."""
    return by_seat[turn:] + by_seat[:turn]
