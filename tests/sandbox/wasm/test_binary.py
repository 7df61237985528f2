"""Values in WebAssembly's binary format are read as they were written."""

from hypothesis import given
from hypothesis import strategies as st

from tournament.sandbox.wasm.binary import HEAD, Reader, many, section, signed, sized, unsigned

NUMBERS = st.integers(0, 1 << 40)


@given(NUMBERS)
def test_numbers_are_read_as_they_were_written(number: int) -> None:
    for written, read in ((unsigned(number), Reader.unsigned), (signed(number), Reader.signed)):
        reader = Reader(written)
        assert read(reader) == number
        assert reader.done


@given(st.integers(-(1 << 40), 1 << 40))
def test_numbers_below_zero_are_read_with_their_sign(number: int) -> None:
    written, rest = bytearray(), number
    while not -64 <= rest < 64:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    assert Reader(bytes([*written, rest & 0x7F])).signed() == number


@given(st.lists(NUMBERS), st.binary(max_size=3))
def test_skipping_a_value_moves_as_far_as_reading_it(numbers: list[int], rest: bytes) -> None:
    reader = Reader(b"".join(map(unsigned, numbers)) + rest)
    reader.skip(len(numbers))
    assert reader.take(len(rest)) == rest


@given(st.lists(st.text(max_size=20)))
def test_lists_of_names_are_read_as_they_were_written(names: list[str]) -> None:
    assert Reader(many(sized(name.encode()) for name in names)).many(Reader.name) == names


@given(st.lists(st.tuples(st.integers(0, 12), st.binary(max_size=300))))
def test_sections_are_read_as_they_were_written(sections: list[tuple[int, bytes]]) -> None:
    written = bytes(HEAD) + b"".join(section(*each) for each in sections)
    assert list(Reader(written).sections()) == sections
