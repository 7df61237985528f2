"""Randomness as data: tapes named by what they are for.

A tape is an endless stream of bits that follows from its name alone, so it does not depend on order, time, process
or platform: a Mersenne twister seeded with the SHA-256 of the name. (A stream of SHA-256 digests would do as well, at
eight times the price of a draw inside the sandbox.) The same module runs in the engine and inside the
sandbox image, and may import the standard library only.
"""

import hashlib
import random
from typing import Any


def tape_name(*parts: object) -> str:
    """The name of a tape: 32 hexadecimal digits that depend on every part and on their order."""
    text = "".join([f"{len(text)}:{text}" for text in map(str, parts)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Tape(random.Random):
    """A `random.Random` whose bits follow from its name: its generator starts from the SHA-256 of the name.

    Two tapes of one name give the same draws for ever. `fork` and `drop` make new tapes and leave this one where
    it is.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(int(hashlib.sha256(name.encode()).hexdigest(), 16))

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Start again from `a`; from the next bits of this tape, never from the system's, where there is none."""
        super().seed(self.getrandbits(128) if a is None else a, version)

    def fork(self, purpose: str) -> "Tape":
        """A tape of its own, named after this one's name and `purpose`."""
        return Tape(tape_name(self.name, purpose))

    def drop(self, draws: int = 1) -> "Tape":
        """The rest of this tape after that many floats."""
        rest = self.copy()
        for _ in range(draws):
            rest.random()
        return rest

    def copy(self) -> "Tape":
        """The same tape at the same place."""
        twin = Tape(self.name)
        twin.setstate(self.getstate())
        return twin

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tape, (self.name,), self.getstate())


class Coin(Tape):
    """A tape that knows how far it has been read, so that another can go on from there: the public coin.

    `position` counts words of 32 bits: two for a float.
    """

    def __init__(self, name: str, position: int = 0) -> None:
        super().__init__(name)
        self.position = 0
        if position:
            super().getrandbits(32 * position)
        self.position = position

    def random(self) -> float:
        """The next float in [0, 1)."""
        self.position += 2
        return super().random()

    def getrandbits(self, k: int, /) -> int:
        """The next `k` bits."""
        self.position += (k + 31) // 32
        return super().getrandbits(k)

    def drop(self, draws: int = 1) -> "Coin":
        """The rest of this tape after that many floats."""
        return Coin(self.name, self.position + 2 * draws)

    def copy(self) -> "Coin":
        """The same tape at the same place."""
        return Coin(self.name, self.position)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Coin, (self.name, self.position))
