"""WebAssembly's binary format, as far as an image is read and written here: numbers, names, lists and sections."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
HEAD = 8
"""Bytes before the first section."""
MODULE, DATA = 1, 11
"""Kinds of sections: of a component, a module of it; of a module, what its memory begins with."""
END = b"\x0b"
"""Ends an expression."""


class Reader:
    """Reads a binary from a place on."""

    def __init__(self, binary: bytes, place: int = 0) -> None:
        self.binary = binary
        self.place = place

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.place >= len(self.binary)

    def byte(self) -> int:
        """The next byte."""
        self.place += 1
        return self.binary[self.place - 1]

    def take(self, length: int) -> bytes:
        """So many bytes."""
        self.place += length
        return self.binary[self.place - length : self.place]

    def unsigned(self) -> int:
        """A number in LEB128."""
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number

    def signed(self) -> int:
        """The same, with its sign."""
        start = self.place
        number, bits = self.unsigned(), 7 * (self.place - start)
        return number - (1 << bits) if number >> (bits - 1) else number

    def skip(self, numbers: int) -> None:
        """Pass over so many numbers."""
        for _ in range(numbers):
            while self.binary[self.place] > 0x7F:
                self.place += 1
            self.place += 1

    def sized(self) -> bytes:
        """Bytes that follow their number."""
        return self.take(self.unsigned())

    def name(self) -> str:
        """A name."""
        return self.sized().decode()

    def many(self, read: "Callable[[Reader], T]") -> list[T]:
        """Things that follow their number, each as it is read."""
        return [read(self) for _ in range(self.unsigned())]

    def sections(self) -> Iterator[tuple[int, bytes]]:
        """The sections of a module or component, each with its kind."""
        self.place = HEAD
        while not self.done:
            yield self.byte(), self.sized()


def unsigned(number: int, last: int = 0x7F) -> bytes:
    """The number in LEB128; `last` is the most that its last byte may be."""
    written = bytearray()
    while number > last:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def signed(number: int) -> bytes:
    """The same of a number, not less than zero, that is read with its sign: the second bit of the last byte."""
    return unsigned(number, last=0x3F)


def sized(content: bytes) -> bytes:
    """The bytes behind their number."""
    return unsigned(len(content)) + content


def many(items: Iterable[bytes]) -> bytes:
    """The items behind their number."""
    items = list(items)
    return unsigned(len(items)) + b"".join(items)


def section(kind: int, content: bytes) -> bytes:
    """A section."""
    return bytes([kind]) + sized(content)


def changed(binary: bytes, change: Callable[[int, bytes], bytes]) -> bytes:
    """A module or component with other contents of its sections, given their kinds and what is in them."""
    sections = Reader(binary).sections()
    return binary[:HEAD] + b"".join(
        section(kind, change(kind, content)) for kind, content in sections
    )
