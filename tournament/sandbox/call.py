"""Calls of programs that are in progress, and what is known within one top-level call."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from tournament.sandbox.proof import Ask
from tournament.sandbox.statement import Statement

NOTHING, COIN, TAPE = 0, 1, 2
"""What programs may have looked at: nothing, the public coin, or a private tape."""
Key = tuple[tuple[str, ...], int, tuple[str, ...], tuple[str, int]]
"""Lineup (digests by seat), seat, history, and place on a coin: what a call depends on but private tapes."""
Proof = tuple[Statement, tuple[str, ...]]
"""What is proved, and after which history."""
Fact = tuple[Key, str] | Proof
"""What can be known: a call's answer, for a private tape or (empty) for all; or that a proof has been paid for."""
OWN = ("", -1)
"""Stands in keys for the public coin of the match, from its start: to those who do not look they are all the same."""


@dataclass
class Frame:
    """A call in progress, real or simulated; `key` says where in its history it is.

    `drew`: its program, or one it simulated, has looked at its private tape. `late`: a TIMEOUT had a part in it.
    `final`: with its fuel, all that the real move has comes to its end.
    """

    key: Key
    tape: str
    final: bool = False
    drew: bool = False
    late: bool = False


@dataclass
class Trace:
    """What a simulation that a real move asked for has made `known`, and on what that hangs besides its key.

    `tie` is the most that any of its programs may have looked at; `drew` is whether any has looked at a tape. It is
    the move's `own` if it was told what the move knew before, or something was noted of it.
    """

    known: dict[Fact, str] = field(default_factory=dict)
    tie: int = NOTHING
    drew: bool = False
    own: bool = False


@dataclass
class Top:
    """A top-level call: its frames in progress, and what is known within it.

    `coin` is the public coin of its match, `made` are the texts that its programs have made up, by digest. `trace` is
    of the simulation that is being made. At a world of a proof, `ask` answers what is asked at the history that the
    proof is `about`. Once it is `void`, there is no move to be proved. If it is `fresh`, no used instance may serve
    programs that ask for anything.
    """

    stack: list[Frame]
    coin: str = ""
    known: dict[Fact, str] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    trace: Trace = field(default_factory=Trace)
    ask: Ask | None = None
    about: tuple[str, ...] = ()
    void: bool = False
    fresh: bool = False
    drew: bool = False
    """Whether a program that was simulated has looked at a tape."""

    def recall(self, fact: Fact) -> str | None:
        """The answer to a call, or anything for a proof that has been paid for; None for what is not known."""
        answer = self.known.get(fact)
        self.trace.own |= answer is not None and fact not in self.trace.known
        return answer

    def learn(self, fact: Fact, answer: str = "") -> None:
        """From now on this is known."""
        self.known[fact] = self.trace.known[fact] = answer

    def take(self, trace: Trace) -> None:
        """Know what a simulation makes known, as if it had been made."""
        self.known |= trace.known
        self.drew |= trace.drew

    def look(self, drew: bool, tie: int) -> None:
        """A program that was simulated has looked at so much, and `drew` if that was a tape."""
        self.drew |= drew
        self.trace.drew |= drew
        self.trace.tie = max(self.trace.tie, tie)

    def forget(self) -> None:
        """Know no more than before the simulation that is being made."""
        for fact in self.trace.known:
            del self.known[fact]
        self.trace = Trace()


class Programs:
    """Sources by digest: those of a batch, and of the library."""

    def __init__(self, known: Iterable[tuple[str, str]]) -> None:
        self._sources = dict(known)

    def source(self, digest: str) -> str:
        """The text of a program."""
        return self._sources[digest]

    def add(self, source: str) -> str:
        """The digest of a text, which is a program from now on."""
        digest = digest_of(source)
        self._sources[digest] = source
        return digest


def digest_of(source: str) -> str:
    """The digest of a program."""
    return hashlib.sha256(source.encode()).hexdigest()
