"""The modules of a component are merged into one that does the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wasmtime import Config, Engine, Store, wat2wasm
from wasmtime.component import Component, Linker

from tournament.errors import ImageError
from tournament.sandbox import image as files
from tournament.sandbox.wasm.binary import Reader
from tournament.sandbox.wasm.merge import merged
from tournament.sandbox.wasm.wiring import Wiring

TEXT = (Path(__file__).parent / "linked.wat").read_text()
LINKED = bytes(wat2wasm(TEXT))
MERGED = merged(LINKED)
FUEL = 1_000_000


class Run:
    """An instance of a component with the exports of an image, whose host answers in capital letters."""

    def __init__(self, component: bytes) -> None:
        config = Config()
        config.consume_fuel = True
        engine = Engine(config)
        self._store = Store(engine)
        self._store.set_fuel(FUEL)
        linker = Linker(engine)
        with linker.root() as root:
            root.add_func("host", lambda store, request: request.upper() + "!")
        self._instance = linker.instantiate(self._store, Component(engine, component))

    def call(self, name: str, *arguments: str) -> object:
        function = self._instance.get_func(self._store, name)
        assert function
        answer = function(self._store, *arguments)
        function.post_return(self._store)
        return answer

    @property
    def fuel_used(self) -> int:
        return FUEL - self._store.get_fuel()


@given(st.text("abcdefgh", max_size=9), st.text(max_size=9))
def test_merged_modules_answer_like_linked_ones(source: str, other: str) -> None:
    linked, one = Run(LINKED), Run(MERGED)
    calls = (("load", source, other), ("play", other), ("drop", other), ("stateless", source))
    for call in calls:
        assert linked.call(*call) == one.call(*call)


def test_the_modules_of_this_test_behave_as_expected() -> None:
    run = Run(MERGED)
    assert run.call("load", "abc", "xy") == "xypqr"
    assert run.call("play", "hello") == "HELLO!"
    assert run.call("drop", "") == "what lasts"
    assert [run.call("stateless", "a" * n) for n in range(3)] == [False, True, False]


def test_calls_through_a_table_become_direct_calls() -> None:
    linked, one = Run(LINKED), Run(MERGED)
    for run in (linked, one):
        run.call("load", "abcdefgh", "")
    # Four instructions for each of the eight letters and for each of the three functions that only pass calls on.
    assert linked.fuel_used - one.fuel_used >= 8 * 3 * 4


def test_one_module_is_left_beside_the_two_of_the_adapter() -> None:
    wiring = Wiring(MERGED)
    assert len(wiring.modules) == 3
    assert len(Wiring(LINKED).modules) > 3


def test_the_image_is_one_module_and_its_table_is_its_own(image: files.Image) -> None:
    component = files._component(files.cache_folder(), print)
    module, *frame = Wiring(component.read_bytes()).modules
    sections = dict(Reader(module).sections())
    assert len(frame) == 2
    assert Reader(sections[2]).unsigned() == 1
    assert {4, 5} <= sections.keys()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("(func $unused (type $nothing))", "(func $unused) (start $unused)", "of the kinds .8."),
        ("(func $unused (type $nothing))", "(func (drop (ref.null func)))", "instruction: 0xd0"),
        ("i32.const 4 call_indirect", "i32.const 4 return_call_indirect", "instruction: 0x13"),
        ("(memory.copy", "(data.drop 0) (memory.copy", "of the kinds .12."),
        ("(elem (global.get $base) func", "(elem declare func", "elements of the kind 3"),
        ("(func $unused (type $nothing))", '(data (i32.const 1) "x")', "memory of several modules"),
        ("(elem (global.get $base)", "(elem (i32.sub (i32.const 4) (i32.const 2))", "no number"),
        ('(export "cabi_post_stateless")', '(export "cabi_post")', "exports are not found"),
    ],
)
def test_a_component_that_is_built_differently_is_refused(
    before: str, after: str, message: str
) -> None:
    assert before in TEXT
    with pytest.raises(ImageError, match=message):
        merged(bytes(wat2wasm(TEXT.replace(before, after, 1))))
