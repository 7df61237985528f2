"""Objects that exist in an image from the start are made immortal, and nothing else in the image changes."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches import LITTLE, batch_of
from tournament.engine.play import play
from tournament.errors import ImageError
from tournament.sandbox.image import Image as Files
from tournament.sandbox.instance import Image
from tournament.sandbox.wasm.binary import Reader, section, signed, sized
from tournament.sandbox.wasm.immortal import IMMORTAL, MARK, _pieces, _segment, immortalized

HEADER = b"\0asm\1\0\0\0"
COUNTED = """
import json, sys, traceback

def act(view):
    things = [json.loads, json.JSONDecoder, traceback, vars(json), json.loads.__code__, type(view)]
    if not all(map(sys._is_immortal, things)):
        return str([sys._is_immortal(thing) for thing in things])
    if sys._is_immortal(things) or sys._is_immortal(act):
        return "what a bot makes is immortal"
    return "CD"[len(view.mine) % 2]
"""


def component(memory: bytes, address: int = 0, modules: int = 1) -> bytes:
    """Return a component of modules that begin with this memory."""
    segment = b"\0\x41" + signed(address) + b"\x0b" + sized(memory)
    module = HEADER + section(11, b"\1" + segment) + section(0, b"\4name")
    return HEADER + section(1, module) * modules + section(0, b"\5other")


def memory_of(binary: bytes) -> dict[int, bytes]:
    [module] = [content for kind, content in Reader(binary).sections() if kind == 1]
    return dict(Reader(dict(Reader(module).sections())[11]).many(_segment))


def listed(*addresses: int) -> bytes:
    return MARK + struct.pack(f"<{len(addresses) + 1}I", len(addresses), *addresses)


def test_only_the_listed_reference_counts_become_immortal() -> None:
    objects = struct.pack("<4I", 3, 77, 1, 78)
    before = objects + b"\0" * 100 + listed(0, 8)
    after = memory_of(immortalized(component(before)))
    whole = bytearray(len(before))
    for address, content in after.items():
        whole[address : address + len(content)] = content
    assert bytes(whole) == struct.pack("<4I", IMMORTAL, 77, IMMORTAL, 78) + before[16:]
    assert len(after) == 2


@pytest.mark.parametrize("count", [0, 1 << 20, 5_783_368])
def test_a_listed_address_without_an_object_is_refused(count: int) -> None:
    memory = struct.pack("<I", count) + listed(0)
    with pytest.raises(ImageError, match="has no object at 0x0"):
        immortalized(component(memory))


@pytest.mark.parametrize("modules", [0, 2])
def test_an_image_must_have_exactly_one_list_of_objects(modules: int) -> None:
    memory = struct.pack("<I", 1) + listed(0)
    with pytest.raises(ImageError, match=f"says {modules} times"):
        immortalized(component(memory, modules=modules))


@given(st.binary(max_size=300))
def test_memory_split_into_pieces_is_the_same_memory(content: bytes) -> None:
    for memory in (content, b"\0" * 40 + content + b"\0" * 40 + content):
        whole = bytearray(len(memory))
        for address, piece in _pieces(memory):
            whole[address : address + len(piece)] = piece
        assert bytes(whole) == memory


def test_every_object_of_the_image_is_immortal_for_a_bot(image: Files) -> None:
    played = play(Image(image.compiled), batch_of([COUNTED, COUNTED], limits=LITTLE))
    assert not played.faults
