"""Randomness as data: tapes named by what they are for.

A tape is an endless stream of bits computed from its name alone (SHA-256 in counter mode), so it does not
depend on order, time, process, platform or Python version. The same module runs in the engine and inside the
sandbox image, and may import the standard library only.
"""

import hashlib
import random
from collections.abc import Iterator
from typing import Any

BLOCK = 32
"""Bytes that one SHA-256 digest adds to a tape."""


def tape_name(*parts: object) -> str:
    """The name of a tape: 32 hexadecimal digits that depend on every part and on their order."""
    text = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Tape(random.Random):
    """A `random.Random` that reads the bits of a named tape from a position on.

    Two tapes with the same name and position give the same draws for ever. `fork` and `drop` make new tapes
    and leave this one where it is.
    """

    def __new__(cls, name: str, position: int = 0) -> "Tape":
        return super().__new__(cls, 0)  # type: ignore[call-arg]

    def __init__(self, name: str, position: int = 0) -> None:
        self.name = name
        self.position = position
        self._block = -1
        self._bytes = b""
        self.gauss_next = None

    def _take(self, count: int) -> bytes:
        """The next `count` bytes."""
        taken = b""
        while count:
            block, offset = divmod(self.position, BLOCK)
            if block != self._block:
                self._bytes = hashlib.sha256(f"{self.name}/{block}".encode()).digest()
                self._block = block
            piece = self._bytes[offset : offset + count]
            self.position += len(piece)
            count -= len(piece)
            taken += piece
        return taken

    def random(self) -> float:
        """The next float in [0, 1), a multiple of 2**-53."""
        return (int.from_bytes(self._take(8), "big") >> 11) * 2.0**-53

    def getrandbits(self, k: int) -> int:
        """The next `k` bits as an integer."""
        if k < 0:
            raise ValueError("number of bits must be non-negative")
        count = (k + 7) // 8
        return int.from_bytes(self._take(count), "big") >> (count * 8 - k)

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Turn to the tape called after `a`; with no `a`, to a tape drawn from this one."""
        name = f"{self.getrandbits(128):032x}" if a is None else tape_name(type(a).__name__, a)
        self.__init__(name)  # type: ignore[misc]

    def fork(self, purpose: str) -> "Tape":
        """A tape of its own, named after this one's name and position and `purpose`."""
        return Tape(tape_name(self.name, self.position, purpose))

    def drop(self, draws: int = 1) -> "Tape":
        """The same tape, `draws` floats further on."""
        return Tape(self.name, self.position + 8 * draws)

    def copy(self) -> "Tape":
        """A tape that will give the same draws as this one."""
        twin = Tape(self.name, self.position)
        twin.gauss_next = self.gauss_next
        return twin

    def getstate(self) -> tuple[Any, ...]:
        """Name, position and the spare Gaussian: enough for `setstate`."""
        return (self.name, self.position, self.gauss_next)

    def setstate(self, state: tuple[Any, ...]) -> None:
        """Go to where `getstate` was."""
        name, position, spare = state
        self.__init__(name, position)  # type: ignore[misc]
        self.gauss_next = spare

    def __reduce__(self) -> tuple[Any, ...]:
        return (Tape, (self.name, self.position), self.getstate())

    def uniforms(self) -> Iterator[float]:
        """Every float from here on, for ever."""
        while True:
            yield self.random()
