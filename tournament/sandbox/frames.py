"""Frames on a pipe: four bytes of length, then that many bytes. An empty frame is a sign of life."""

import os
import struct

HEAD = struct.Struct("<I")
MOST = 1 << 30


def framed(content: bytes) -> bytes:
    """The content as a frame."""
    return HEAD.pack(len(content)) + content


def length_of(head: bytes) -> int:
    """The length that a frame's head states. Raises `ValueError` for one that no frame of ours has."""
    length = int(HEAD.unpack(head)[0])
    if length > MOST:
        raise ValueError(f"a frame of {length} bytes")
    return length


def read_frame(descriptor: int) -> bytes | None:
    """The next frame's content; None at the end of the stream."""
    head = _read(descriptor, HEAD.size)
    return None if head is None else _read(descriptor, length_of(head))


def write_frame(descriptor: int, content: bytes) -> None:
    """Write the content as a frame."""
    rest = memoryview(framed(content))
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(descriptor: int, count: int) -> bytes | None:
    pieces = []
    while count:
        piece = os.read(descriptor, min(count, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
