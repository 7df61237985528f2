"""What is played and what came of it: fixtures, faults and outcomes."""

from dataclasses import dataclass, field

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
