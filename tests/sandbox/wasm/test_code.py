"""Code is rewritten with other numbers of functions and globals, and does the same."""

from pathlib import Path

import pytest
from wasmtime import wat2wasm

from tournament.errors import ImageError
from tournament.sandbox.wasm.binary import Reader
from tournament.sandbox.wasm.code import Numbers, expression, number, passed_on, rewritten
from tournament.sandbox.wasm.wiring import Wiring

COMPONENT = Wiring(bytes(wat2wasm((Path(__file__).parent / "linked.wat").read_text())))
SAME = Numbers(range(300), range(300), range(300), 0, {})
MOVED = Numbers([200], [1], [100, 101], 70, {101: b"\x41\x05"})
MODULE = """
(module
  (type $one (func (param i32) (result i32)))
  (type $two (func (param i32 i32) (result i32)))
  (table 1 funcref)
  (global (mut i32) (i32.const 0))
  (global i32 (i32.const 5))
  (func (type $one)
    {}))
"""


def bodies(module: bytes) -> list[bytes]:
    sections = dict(Reader(module).sections())
    return Reader(sections[10]).many(Reader.sized) if 10 in sections else []


def body(text: str) -> bytes:
    [only] = bodies(bytes(wat2wasm(MODULE.format(text))))
    return only


def test_code_is_unchanged_if_the_numbers_are() -> None:
    found = [each for module in COMPONENT.modules for each in bodies(module)]
    assert len(found) > 10
    assert [rewritten(each, SAME) for each in found] == found


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("local.get 0 call 0", b"\x10\0", b"\x10\xc8\1"),
        ("(call_indirect (type $two))", b"\x11\1\0", b"\x11\x47\1"),
        ("(block (type $two) drop)", b"\2\1\x1a", b"\2\xc7\0\x1a"),
        ("(loop (type $one) drop)", b"\3\0\x1a", b"\3\xc6\0\x1a"),
        ("(block (result i32) drop)", b"\2\x7f\x1a", b"\2\x7f\x1a"),
        ("global.get 0", b"\x23\0", b"\x23\x64"),
        ("global.set 0", b"\x24\0", b"\x24\x64"),
        ("global.get 1", b"\x23\1", b"\x41\5"),
    ],
)
def test_every_reference_gets_its_new_number(text: str, before: bytes, after: bytes) -> None:
    # The instructions around it look like references and are not.
    around = "f64.const 3.5e-310 i32.const -2000 i64.const 35 f32.const 1e-44 br_table 0 0 0"
    whole = body(f"{around}\n{text}\n{around}")
    assert whole.count(before) == 1
    assert rewritten(whole, MOVED) == whole.replace(before, after)


@pytest.mark.parametrize("text", ["(v128.const i32x4 1 2 3 4)", "(table.size 0)", "(ref.func 0)"])
def test_an_unknown_instruction_is_refused(text: str) -> None:
    with pytest.raises(ImageError, match="unknown instruction"):
        rewritten(body(text), SAME)


def test_an_expression_is_read_exactly_to_its_end() -> None:
    reader = Reader(b"\x23\1\x41\7\x6a\x0b\x41\x0b")
    assert expression(reader, MOVED) == b"\x41\5\x41\7\x6a"
    assert reader.take(2) == b"\x41\x0b"


def test_an_expression_is_a_number_or_is_refused() -> None:
    assert number(b"\x41\x7f") == -1
    for other in (b"\x23\1", b"\x41\5\x41\7\x6a", b""):
        with pytest.raises(ImageError, match="no number"):
            number(other)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("local.get 0 i32.const 77 (call_indirect (type $one))", (0, 77)),
        ("local.get 0 i32.const 77 (call_indirect (type $one)) i32.eqz", None),
        ("i32.const 0 i32.const 77 (call_indirect (type $one))", None),
        ("local.get 0 local.get 0 (call_indirect (type $one))", None),
        ("local.get 0 i32.const 77 drop", None),
        ("local.get 0", None),
    ],
)
def test_only_functions_that_pass_their_arguments_on_are_recognised_as_such(
    text: str, found: tuple[int, int] | None
) -> None:
    assert passed_on(body(text), arguments=1) == found
    assert passed_on(body("(local i32)" + text), arguments=1) is None
