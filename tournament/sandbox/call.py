"""Calls of programs that are in progress, and what is known within one top-level call."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tournament.sandbox.proof import Ask
from tournament.sandbox.statement import Statement

Key = tuple[tuple[str, ...], int, tuple[str, ...], tuple[str, int]]
"""Lineup (digests by seat), seat, history, and place on the public coin: what a call depends on but private tapes."""
Proof = tuple[Statement, tuple[str, ...]]
"""What is proved, and after which history."""


@dataclass
class Frame:
    """A call in progress, real or simulated; `key` says where in its history it is.

    `drew`: its program, or one it simulated, has looked at its private tape. `late`: a TIMEOUT had a part in it.
    """

    key: Key
    tape: str
    drew: bool = False
    late: bool = False


@dataclass
class Top:
    """A top-level call: its frames in progress, and the answers known within it.

    `proved` are the proofs that have been paid for, `made` the texts that its programs have made up, by digest. At a
    world of a proof, `ask` answers what is asked at the history that the proof is `about`. Once it is `void`, there is
    no move to be proved. If it is `fresh`, no used instance may serve programs that ask for anything.
    """

    stack: list[Frame]
    pure: dict[Key, str] = field(default_factory=dict)
    drawn: dict[tuple[Key, str], str] = field(default_factory=dict)
    proved: dict[Proof, None] = field(default_factory=dict)
    made: dict[str, str] = field(default_factory=dict)
    ask: Ask | None = None
    about: tuple[str, ...] = ()
    void: bool = False
    fresh: bool = False
    drew: bool = False
    """Whether a program that was simulated has looked at a tape."""

    def known(self) -> tuple[int, ...]:
        """How much is known: of each kind, how many."""
        return len(self.pure), len(self.drawn), len(self.proved)

    def forget(self, known: tuple[int, ...]) -> None:
        """Know as much as before, and no more."""
        kinds: list[dict[Any, Any]] = [self.pure, self.drawn, self.proved]
        for kind, count in zip(kinds, known, strict=True):
            for key in [*kind][count:]:
                del kind[key]


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
