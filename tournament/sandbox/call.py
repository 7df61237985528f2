"""The calls of programs that are in progress, and the answers that are known within one top-level call.

A top-level call is one that belongs to a real move; the calls that it simulates are nested in it.
"""

import hashlib
from dataclasses import dataclass, field

from tournament.sandbox.statement import IsProvable, Statement

NOTHING, COIN, TAPE = 0, 1, 2
"""What programs may have read: no random bits, only the public coin, or also a private tape."""
Key = tuple[tuple[str, ...], int, tuple[str, ...], tuple[str, int]]
"""All that a call depends on except private tapes: lineup (digests by seat), seat, history, and public coin.

The coin is the name of a tape and the position on it.
"""
Question = tuple[Statement, tuple[str, ...]]
"""A statement to be proved, and the history after which its programs meet."""
Fact = tuple[Key, str] | Question
"""Something that a top-level call can know: the answer to a call, or that a proof has been paid for.

The text beside the key names the private tape that the answer depends on; it is empty if there is none.
"""
OWN = ("", -1)
"""Stands in keys for the match's own public coin, read from its start.

The keys of different matches are then equal, and programs that do not read the coin can share an answer.
"""


@dataclass
class Frame:
    """A call in progress, real or simulated. The history in its `key` is the one that it has reached.

    `drew` is whether its program, or one that it simulated, has read its private tape. `timed_out` is whether a TIMEOUT
    contributed to its answer. `final` is whether the real move has no fuel left once this call has used up its own.
    """

    key: Key
    tape: str
    final: bool = False
    drew: bool = False
    timed_out: bool = False


@dataclass
class Trace:
    """The answers that one simulation for a real move has made `known`, and what they depend on besides its key.

    `randomness` is the most that any of its programs may have read: `NOTHING`, `COIN` or `TAPE`. `drew` is whether any
    program has read a tape, public or private. The simulation is not `shareable` with other moves if it used an answer
    that this move knew before, or left a note about the match.
    """

    known: dict[Fact, str] = field(default_factory=dict)
    randomness: int = NOTHING
    drew: bool = False
    shareable: bool = True


@dataclass
class Top:
    """A top-level call: the `stack` of its calls in progress, and what is known within it.

    `coin` is the public coin of its match. `written` holds, by digest, the source texts that its programs have written
    themselves. `trace` belongs to the simulation that is running. At a world of a proof, `is_provable` answers what
    programs ask with `proves`, at the history that the proof is `about`. Once `unprovable` is set, nothing about its
    move can be proved. If `fresh` is set, programs that might ask their host for something run in new instances only.
    """

    stack: list[Frame]
    coin: str = ""
    known: dict[Fact, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    is_provable: IsProvable | None = None
    about: tuple[str, ...] = ()
    unprovable: bool = False
    fresh: bool = False
    drew: bool = False
    """Whether a simulated program has read a tape, public or private."""

    def recall(self, fact: Fact) -> str | None:
        """Return the answer that is known to a call, or a text for a proof that has been paid for; else None.

        The present simulation is no longer shareable if it did not learn the fact itself.
        """
        answer = self.known.get(fact)
        self.trace.shareable &= answer is None or fact in self.trace.known
        return answer

    def learn(self, fact: Fact, answer: str = "") -> None:
        """Add a fact to what this call and its present simulation know."""
        self.known[fact] = self.trace.known[fact] = answer

    def add(self, trace: Trace) -> None:
        """Add what a kept simulation made known, as if it had run in this call."""
        self.known |= trace.known
        self.drew |= trace.drew

    def note_reading(self, drew: bool, randomness: int) -> None:
        """Note how much randomness a simulated program may have read, and whether it has read a tape."""
        self.drew |= drew
        self.trace.drew |= drew
        self.trace.randomness = max(self.trace.randomness, randomness)

    def forget(self) -> None:
        """Remove everything that the simulation that is running has made known."""
        for fact in self.trace.known:
            del self.known[fact]
        self.trace = Trace()


def digest_of(source: str) -> str:
    """Return the digest of a program: the SHA-256 of its source in UTF-8, in hexadecimal."""
    return hashlib.sha256(source.encode()).hexdigest()
