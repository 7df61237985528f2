"""Makes what an image finds in its memory immortal, so that nobody counts references to it.

CPython counts references to an object in the object. So every instance would write to all over the memory that it
starts with, and have each page copied that it writes to, though it changes nothing there. An immortal object (PEP 683)
is one whose count says so: it is left alone. No program can ask for that, so it is written into the image when it has
been built. The guest says where its objects lie (see `guest/lasting.py`).
"""

import hashlib
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tournament.errors import ImageError

MARK = hashlib.sha256(b"what lasts").digest()
"""Stands in the memory before the number of the objects, and their addresses."""
IMMORTAL = 5 << 28
"""The count of an immortal object where addresses have 32 bits (`_Py_IMMORTAL_INITIAL_REFCNT` of CPython 3.14)."""
MOST_COUNTED = 1 << 20
"""No object that is alive has more references than that: what has is none."""
HEAD = 8
CODE_MODULE, DATA, DATA_COUNT = 1, 11, 12
"""Kinds of sections: of a component, the first; of a module, the others."""
ACTIVE = b"\0\x41"
"""How a segment begins that is copied to a fixed place of the first memory."""
GAP = re.compile(rb"\0{32,}")
"""Zeros that are not worth writing down."""


class Segment(NamedTuple):
    """Bytes that memory begins with, from an address on."""

    address: int
    content: bytes


def immortalized(component: bytes) -> bytes:
    """The component, with the counts of all that lasts set to immortal. Raises `ImageError` where that is not found."""
    sections = list(_sections(component))
    found = [n for n, (kind, content) in enumerate(sections) if _has_mark(kind, content)]
    if len(found) != 1:
        raise ImageError(f"the sandbox image says {len(found)} times what lasts in it, not once")
    sections[found[0]] = (CODE_MODULE, _module(sections[found[0]][1]))
    return component[:HEAD] + b"".join(map(_written, sections))


def _has_mark(kind: int, content: bytes) -> bool:
    return kind == CODE_MODULE and MARK in content


def _module(module: bytes) -> bytes:
    """The module with other contents of memory."""
    sections = list(_sections(module))
    segments = _segments(dict(sections)[DATA])
    memory = bytearray(max(address + len(content) for address, content in segments))
    for address, content in segments:
        memory[address : address + len(content)] = content
    _immortalize(memory)
    made = list(_pieces(bytes(memory)))
    count = _unsigned(len(made))
    data = count + b"".join(
        ACTIVE + _signed(address) + b"\x0b" + _unsigned(len(content)) + content
        for address, content in made
    )
    changed = {DATA: data, DATA_COUNT: count}
    return module[:HEAD] + b"".join(
        _written((kind, changed.get(kind, content))) for kind, content in sections
    )


def _immortalize(memory: bytearray) -> None:
    """Set the counts of all that lasts."""
    start = memory.index(MARK) + len(MARK)
    [number] = struct.unpack_from("<I", memory, start)
    for address in struct.unpack_from(f"<{number}I", memory, start + 4):
        [count] = struct.unpack_from("<I", memory, address)
        if not 0 < count < MOST_COUNTED:
            raise ImageError(f"the sandbox image has no object at {address:#x}, where it says so")
        struct.pack_into("<I", memory, address, IMMORTAL)


def _segments(data: bytes) -> list[Segment]:
    count, place = _read_unsigned(data, 0)
    segments = []
    for _ in range(count):
        if data[place : place + len(ACTIVE)] != ACTIVE:
            raise ImageError("the sandbox image begins with memory that is not at a fixed place")
        address, place = _read_signed(data, place + len(ACTIVE))
        length, place = _read_unsigned(data, place + 1)
        segments.append(Segment(address, data[place : place + length]))
        place += length
    return segments


def _pieces(memory: bytes) -> Iterator[Segment]:
    """The memory in segments, without what is zero anyway."""
    start = 0
    for gap in GAP.finditer(memory):
        if gap.start() > start:
            yield Segment(start, memory[start : gap.start()])
        start = gap.end()
    if start < len(memory):
        yield Segment(start, memory[start:])


def _sections(binary: bytes) -> Iterator[tuple[int, bytes]]:
    """The sections of a module or component, each with its kind."""
    place = HEAD
    while place < len(binary):
        kind = binary[place]
        length, place = _read_unsigned(binary, place + 1)
        yield kind, binary[place : place + length]
        place += length


def _written(section: tuple[int, bytes]) -> bytes:
    kind, content = section
    return bytes([kind]) + _unsigned(len(content)) + content


def _read_unsigned(binary: bytes, place: int) -> tuple[int, int]:
    """A number in LEB128, and the place behind it."""
    number = shift = 0
    while True:
        byte = binary[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place


def _read_signed(binary: bytes, place: int) -> tuple[int, int]:
    number, end = _read_unsigned(binary, place)
    bits = 7 * (end - place)
    return number - (1 << bits) if number >> (bits - 1) else number, end


def _unsigned(number: int, last: int = 0x7F) -> bytes:
    """The number in LEB128; `last` is the most that its last byte may be."""
    written = bytearray()
    while number > last:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def _signed(number: int) -> bytes:
    """The same of a number that is read with its sign, which is the second bit of the last byte."""
    return _unsigned(number, last=0x3F)
