"""Makes what an image finds in its memory immortal, so that nobody counts references to it.

CPython counts references to an object in the object. So every instance would write to all over the memory that it
starts with, and have each page copied that it writes to, though it changes nothing there. An immortal object (PEP 683)
is one whose count says so: it is left alone. No program can ask for that, so it is written into the image when it has
been built. The guest says where its objects lie (see `guest/immortal.py`).
"""

import hashlib
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from tournament.errors import ImageError
from tournament.sandbox.wasm.binary import DATA, END, MODULE, Reader, changed, many, signed, sized

MARK = hashlib.sha256(b"what lasts").digest()
"""Stands in the memory before the number of the objects, and their addresses."""
IMMORTAL = 5 << 28
"""The count of an immortal object where addresses have 32 bits (`_Py_IMMORTAL_INITIAL_REFCNT` of CPython 3.14)."""
MOST_COUNTED = 1 << 20
"""No object that is alive has more references than that: what has is none."""
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
    found = sum(_has_mark(*each) for each in Reader(component).sections())
    if found != 1:
        raise ImageError(f"the sandbox image says {found} times what lasts in it, not once")
    return changed(
        component,
        lambda kind, content: _module(content) if _has_mark(kind, content) else content,
    )


def _has_mark(kind: int, content: bytes) -> bool:
    return kind == MODULE and MARK in content


def _module(module: bytes) -> bytes:
    """The module with other contents of memory."""
    segments = Reader(dict(Reader(module).sections())[DATA]).many(_segment)
    memory = bytearray(max(address + len(content) for address, content in segments))
    for address, content in segments:
        memory[address : address + len(content)] = content
    _immortalize(memory)
    made = many(
        ACTIVE + signed(address) + END + sized(content)
        for address, content in _pieces(bytes(memory))
    )
    return changed(module, lambda kind, content: made if kind == DATA else content)


def _immortalize(memory: bytearray) -> None:
    """Set the counts of all that lasts."""
    start = memory.index(MARK) + len(MARK)
    [number] = struct.unpack_from("<I", memory, start)
    for address in struct.unpack_from(f"<{number}I", memory, start + 4):
        [count] = struct.unpack_from("<I", memory, address)
        if not 0 < count < MOST_COUNTED:
            raise ImageError(f"the sandbox image has no object at {address:#x}, where it says so")
        struct.pack_into("<I", memory, address, IMMORTAL)


def _segment(reader: Reader) -> Segment:
    if reader.take(len(ACTIVE)) != ACTIVE:
        raise ImageError("the sandbox image begins with memory that is not at a fixed place")
    address = reader.signed()
    reader.take(len(END))
    return Segment(address, reader.sized())


def _pieces(memory: bytes) -> Iterator[Segment]:
    """The memory in segments, without what is zero anyway."""
    start = 0
    for gap in GAP.finditer(memory):
        if gap.start() > start:
            yield Segment(start, memory[start : gap.start()])
        start = gap.end()
    if start < len(memory):
        yield Segment(start, memory[start:])
