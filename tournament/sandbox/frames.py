"""Frames on a pipe or socket: four bytes (little-endian) with the length, followed by that many bytes of content.

A worker sends an empty frame to show that it is still running.
"""

import os
import struct

HEAD = struct.Struct("<I")
MOST = 1 << 30


def framed(content: bytes) -> bytes:
    """Return the content as a frame."""
    return HEAD.pack(len(content)) + content


def length_of(head: bytes) -> int:
    """Return the length, in bytes, that a frame's head states. Raises `ValueError` if it is more than `MOST`."""
    length = int(HEAD.unpack(head)[0])
    if length > MOST:
        raise ValueError(f"a frame of {length} bytes")
    return length


def read_frame(descriptor: int) -> bytes | None:
    """Return the content of the next frame, or None if the stream ends before the frame is complete."""
    head = _read(descriptor, HEAD.size)
    return None if head is None else _read(descriptor, length_of(head))


def write_frame(descriptor: int, content: bytes) -> None:
    """Write the content as a frame, all of it."""
    rest = memoryview(framed(content))
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(descriptor: int, count: int) -> bytes | None:
    """Return exactly `count` bytes, or None if the stream ends before that."""
    content = bytearray()
    while rest := count - len(content):
        piece = os.read(descriptor, min(rest, 1 << 20))
        if not piece:
            return None
        content += piece
    return bytes(content)
