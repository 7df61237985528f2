"""Rewrites WebAssembly code: what it does stays the same, but not the numbers by which it names things.

Of the instructions those are known that compilers of C and Rust write for an image: any other is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tournament.errors import ImageError
from tournament.sandbox.wasm.binary import Reader, signed, unsigned

END, CALL, INDIRECT, GET_LOCAL, GET_GLOBAL, SET_GLOBAL = 0x0B, 0x10, 0x11, 0x20, 0x23, 0x24
NUMBER, MORE = 0x41, 0xFC
BARE = {0x00, 0x01, 0x05, END, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5)}
"""Instructions that nothing follows."""
MORE_NUMBERS = {**dict.fromkeys(range(8), 0), 0x0A: 2, 0x0B: 1}
"""How many numbers follow the codes that follow `MORE`: conversions, copying and filling memory."""


@dataclass(frozen=True)
class Numbers:
    """For the numbers of a module's functions, tables and globals those of the same where it is merged.

    Numbers of types grow by `types`. `constants` are expressions for globals there that never change, by number.
    """

    functions: Sequence[int]
    tables: Sequence[int]
    globals: Sequence[int]
    types: int
    constants: Mapping[int, bytes]


def rewritten(body: bytes, numbers: Numbers) -> bytes:
    """The body of a function with other numbers. Raises `ImageError` for an instruction that is not known."""
    reader = Reader(body)
    for _ in range(reader.unsigned()):
        reader.skip(1)
        reader.byte()
    parts, kept = [], 0
    while not reader.done:
        start = reader.place
        renamed = _instruction(reader, numbers)
        if renamed is not None:
            parts += [body[kept:start], renamed]
            kept = reader.place
    return b"".join([*parts, body[kept:]])


def expression(reader: Reader, numbers: Numbers) -> bytes:
    """The expression that is read, with other numbers and without its end. Raises `ImageError` as above."""
    written = b""
    while reader.binary[reader.place] != END:
        start = reader.place
        renamed = _instruction(reader, numbers)
        written += reader.binary[start : reader.place] if renamed is None else renamed
    reader.byte()
    return written


def number(expression: bytes) -> int:
    """What an expression comes to that is but a number. Raises `ImageError` for any other."""
    reader = Reader(expression, 1)
    if expression.startswith(bytes([NUMBER])):
        found = reader.signed()
        if reader.done:
            return found
    raise ImageError("the sandbox image has a place that is no number")


def passed_on(body: bytes, arguments: int) -> tuple[int, int] | None:
    """The table, and the place in it, to which a function of so many arguments only passes its calls on, if it does."""
    before = b"\0" + b"".join(bytes([GET_LOCAL]) + unsigned(n) for n in range(arguments))
    reader = Reader(body, len(before))
    if not body.startswith(before + bytes([NUMBER])):
        return None
    reader.byte()
    place = reader.signed()
    if reader.byte() != INDIRECT:
        return None
    reader.skip(1)
    table = reader.unsigned()
    return (table, place) if reader.byte() == END and reader.done else None


def _instruction(reader: Reader, numbers: Numbers) -> bytes | None:
    """Pass over an instruction: the same with other numbers, if it has any."""
    code = reader.byte()
    if code in BARE:
        return None
    if code not in FOLLOWED:
        raise ImageError(f"the sandbox image has an unknown instruction: {code:#x}")
    return FOLLOWED[code](reader, numbers)


def _call(reader: Reader, numbers: Numbers) -> bytes:
    return bytes([CALL]) + unsigned(numbers.functions[reader.unsigned()])


def _indirect(reader: Reader, numbers: Numbers) -> bytes:
    moved = unsigned(reader.unsigned() + numbers.types)
    return bytes([INDIRECT]) + moved + unsigned(numbers.tables[reader.unsigned()])


def _get_global(reader: Reader, numbers: Numbers) -> bytes:
    found = numbers.globals[reader.unsigned()]
    return numbers.constants.get(found) or bytes([GET_GLOBAL]) + unsigned(found)


def _set_global(reader: Reader, numbers: Numbers) -> bytes:
    return bytes([SET_GLOBAL]) + unsigned(numbers.globals[reader.unsigned()])


def _block(reader: Reader, numbers: Numbers) -> bytes | None:
    code, kind = reader.binary[reader.place - 1 : reader.place + 1]
    if 0x40 <= kind <= 0x7F:
        reader.skip(1)
        return None
    return bytes([code]) + signed(reader.signed() + numbers.types)


def _labels(reader: Reader, numbers: Numbers) -> None:
    reader.skip(reader.unsigned() + 1)


def _select(reader: Reader, numbers: Numbers) -> None:
    reader.sized()


def _more(reader: Reader, numbers: Numbers) -> None:
    code = reader.unsigned()
    if code not in MORE_NUMBERS:
        raise ImageError(f"the sandbox image has an unknown instruction: {MORE:#x} {code}")
    reader.skip(MORE_NUMBERS[code])


def _one(reader: Reader, numbers: Numbers) -> None:
    reader.skip(1)


def _two(reader: Reader, numbers: Numbers) -> None:
    reader.skip(2)


def _float(reader: Reader, numbers: Numbers) -> None:
    reader.place += 4


def _double(reader: Reader, numbers: Numbers) -> None:
    reader.place += 8


FOLLOWED: dict[int, Callable[[Reader, Numbers], bytes | None]] = {
    **dict.fromkeys((0x02, 0x03, 0x04), _block),
    **dict.fromkeys((0x0C, 0x0D, 0x20, 0x21, 0x22, 0x3F, 0x40, NUMBER, 0x42), _one),
    **dict.fromkeys(range(0x28, 0x3F), _two),
    0x0E: _labels,
    CALL: _call,
    INDIRECT: _indirect,
    0x1C: _select,
    GET_GLOBAL: _get_global,
    SET_GLOBAL: _set_global,
    0x43: _float,
    0x44: _double,
    MORE: _more,
}
"""What is done about what follows an instruction."""
