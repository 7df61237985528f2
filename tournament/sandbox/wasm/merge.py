"""Makes one module of all those that an image is built of, so that an instance is made in half the time.

A builder that links at run time leaves dozens of modules. They share one table of functions, and since it belongs to
none of those that fill it, every instance fills it anew: with thousands of functions, of which it calls some hundreds.
In one module the table is known when that is compiled. And what one module called in another by way of the table is
called directly: no code changes what stands there, for instructions that could are among those refused.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from wasmtime import wat2wasm

from tournament.errors import ImageError
from tournament.sandbox.wasm.binary import (
    DATA,
    END,
    MODULE,
    Reader,
    changed,
    many,
    section,
    signed,
    sized,
    unsigned,
)
from tournament.sandbox.wasm.code import NUMBER, Numbers, expression, number, passed_on, rewritten
from tournament.sandbox.wasm.wiring import (
    FUNCTION,
    GLOBAL,
    MEMORY,
    TABLE,
    Instance,
    Thing,
    Wiring,
)

FRAME = Path(__file__).parent / "frame.wat"
"""The component into which the module is put, in the place of its first."""
LAST_EXPORT = "cabi_post_stateless"
"""Exported by the module that the component lifts its exports from, and by no other."""
TYPES, IMPORTS, FUNCTIONS, TABLES, MEMORIES, GLOBALS, EXPORTS = range(1, 8)
ELEMENTS, CODE = 9, 10
"""Kinds of sections. A function to start with, or data that is copied later, no module of an image has."""
KNOWN = {*range(8), ELEMENTS, CODE, DATA}
SORTS = {FUNCTIONS: FUNCTION, TABLES: TABLE, MEMORIES: MEMORY, GLOBALS: GLOBAL}
"""What is defined in which section."""
HEADER = b"\0asm\1\0\0\0"
HOST, HOST_TYPE = 0, b"\x60\x03\x7f\x7f\x7f\0"
"""The one function that is imported in the end."""
IMMUTABLE, HAS_MOST = 0, 1
OF_FIRST_TABLE, OF_ANY_TABLE = 0, 2
T = TypeVar("T")


def merged(component: bytes) -> bytes:
    """The component with one module in it. Raises `ImageError` for one that was not built as images are."""
    wiring, merger = Wiring(component), Merger()
    exports: list[Mapping[str, Thing]] = []
    for instance in wiring.instances:
        if instance.module is None:
            exports.append(_bundled(wiring, instance, exports))
        else:
            given = {name: exports[source] for name, source in instance.given.items()}
            exports.append(merger.add(wiring.modules[instance.module], given))
    lifted = [each for each in exports if LAST_EXPORT in each]
    memories = {each["memory"] for each in exports if "memory" in each}
    if len(lifted) != 1 or len(memories) != 1:
        raise ImageError("the sandbox image is not built as usual: its exports are not found")
    return _framed(merger.written({**lifted[0], "memory": memories.pop()}))


def _bundled(
    wiring: Wiring, bundle: Instance, exports: list[Mapping[str, Thing]]
) -> dict[str, Thing]:
    """What the things of a bundle are in the merged module, given what the instances before it export."""
    found = {}
    for name, (sort, thing) in bundle.things.items():
        source = wiring.taken[sort][thing]
        found[name] = exports[source[0]][source[1]] if source else (FUNCTION, HOST)
    return found


def _framed(module: bytes) -> bytes:
    """The component around the module."""
    frame, modules = bytes(wat2wasm(FRAME.read_text())), iter([module])
    return changed(
        frame, lambda kind, content: next(modules, content) if kind == MODULE else content
    )


@dataclass(frozen=True)
class Elements:
    """Functions that stand in a table from a place on."""

    table: int
    place: int
    functions: list[int]

    def written(self) -> bytes:
        """The segment that puts them there."""
        place = bytes([NUMBER]) + signed(self.place) + END
        functions = many(map(unsigned, self.functions))
        if self.table == 0:
            return bytes([OF_FIRST_TABLE]) + place + functions
        return bytes([OF_ANY_TABLE]) + unsigned(self.table) + place + b"\0" + functions


class Merger:
    """Modules that are put one behind the other."""

    def __init__(self) -> None:
        self._types = [HOST_TYPE]
        self._defined: dict[int, list[bytes]] = {kind: [] for kind in SORTS}
        self._constants: dict[int, bytes] = {}
        self._elements: list[Elements] = []
        self._bodies: list[tuple[Numbers, list[bytes]]] = []
        self._data = b""

    def add(self, module: bytes, given: Mapping[str, Mapping[str, Thing]]) -> dict[str, Thing]:
        """Add a module that imports from what it is given; return what it exports. Raises `ImageError`."""
        sections = {kind: Reader(content) for kind, content in Reader(module).sections()}
        if strange := sections.keys() - KNOWN:
            raise ImageError(f"the sandbox image has sections of the kinds {sorted(strange)}")
        spaces: dict[int, list[int]] = {sort: [] for sort in SORTS.values()}
        for source, name, sort in _all(sections, IMPORTS, _import):
            spaces[sort].append(given[source][name][1])
        numbers = Numbers(
            spaces[FUNCTION], spaces[TABLE], spaces[GLOBAL], len(self._types), self._constants
        )
        self._types += _all(sections, TYPES, _type)
        for kind, sort in SORTS.items():
            for definition in _all(sections, kind, partial(DEFINITIONS[kind], numbers)):
                spaces[sort].append(self._define(kind, definition))
        self._elements += _all(sections, ELEMENTS, partial(_elements, numbers))
        self._bodies.append((numbers, _all(sections, CODE, Reader.sized)))
        if DATA in sections and self._data:
            raise ImageError("the sandbox image begins with the memory of several modules")
        self._data = self._data or sections.get(DATA, Reader(b"")).binary
        exports = _all(sections, EXPORTS, _export)
        return {name: (sort, spaces[sort][own]) for name, (sort, own) in exports}

    def _define(self, kind: int, definition: bytes) -> int:
        """The number of a new definition."""
        defined = self._defined[kind]
        number = len(defined) + (1 if kind == FUNCTIONS else 0)
        defined.append(definition)
        if kind == GLOBALS and definition[1] == IMMUTABLE:
            self._constants[number] = definition[2:-1]
        return number

    def written(self, exports: Mapping[str, Thing]) -> bytes:
        """The module that they make together, with these exports."""
        direct = self._direct()
        parts = {
            TYPES: self._types,
            IMPORTS: [sized(b"") + sized(b"host") + bytes([FUNCTION]) + unsigned(0)],
            **self._defined,
            EXPORTS: [
                sized(name.encode()) + bytes([sort]) + unsigned(number)
                for name, (sort, number) in exports.items()
            ],
            ELEMENTS: [each.written() for each in self._elements],
            CODE: [body for own in self._bodies for body in _rewritten(*own, direct)],
        }
        written = b"".join(section(kind, many(items)) for kind, items in sorted(parts.items()))
        return HEADER + written + section(DATA, self._data or many([]))

    def _direct(self) -> dict[int, int]:
        """By functions that only pass their calls on: who gets them in the end."""
        stands = {
            (each.table, each.place + n): function
            for each in self._elements
            for n, function in enumerate(each.functions)
        }
        direct = {
            function: stands[place]
            for function, place in enumerate(self._passed_on(), start=1)
            if place in stands
        }
        for function in direct:
            while direct[function] in direct:
                direct[function] = direct[direct[function]]
        return direct

    def _passed_on(self) -> Iterator[tuple[int, int] | None]:
        """For every function the table, and the place in it, to which it only passes its calls on, if so."""
        kinds = iter(self._defined[FUNCTIONS])
        for numbers, bodies in self._bodies:
            for body in bodies:
                kind = self._types[Reader(next(kinds)).unsigned()]
                found = passed_on(body, arguments=Reader(kind, 1).unsigned())
                yield found and (numbers.tables[found[0]], found[1])


def _rewritten(numbers: Numbers, bodies: list[bytes], direct: Mapping[int, int]) -> list[bytes]:
    """Bodies of one module, that call others directly."""
    functions = [direct.get(function, function) for function in numbers.functions]
    numbers = replace(numbers, functions=functions)
    return [sized(rewritten(body, numbers)) for body in bodies]


def _all(sections: Mapping[int, Reader], kind: int, read: Callable[[Reader], T]) -> list[T]:
    """All that is in a section, if there is one."""
    return sections[kind].many(read) if kind in sections else []


def _import(reader: Reader) -> tuple[str, str, int]:
    source, name, sort = reader.name(), reader.name(), reader.byte()
    KINDS_OF_IMPORTS[sort](reader)
    return source, name, sort


def _export(reader: Reader) -> tuple[str, Thing]:
    return reader.name(), (reader.byte(), reader.unsigned())


def _type(reader: Reader) -> bytes:
    return reader.take(1) + sized(reader.sized()) + sized(reader.sized())


def _limits(reader: Reader) -> bytes:
    start = reader.place
    reader.skip(2 + (reader.binary[start] & HAS_MOST))
    return reader.binary[start : reader.place]


def _table(reader: Reader) -> bytes:
    return reader.take(1) + _limits(reader)


def _kind_of_global(reader: Reader) -> bytes:
    return reader.take(2)


def _function(numbers: Numbers, reader: Reader) -> bytes:
    return unsigned(reader.unsigned() + numbers.types)


def _global(numbers: Numbers, reader: Reader) -> bytes:
    return _kind_of_global(reader) + expression(reader, numbers) + END


def _elements(numbers: Numbers, reader: Reader) -> Elements:
    kind = reader.unsigned()
    if kind not in (OF_FIRST_TABLE, OF_ANY_TABLE):
        raise ImageError(f"the sandbox image has elements of the kind {kind}")
    table = reader.unsigned() if kind == OF_ANY_TABLE else 0
    place = number(expression(reader, numbers))
    if kind == OF_ANY_TABLE:
        reader.byte()
    functions = reader.many(Reader.unsigned)
    return Elements(numbers.tables[table], place, [numbers.functions[n] for n in functions])


KINDS_OF_IMPORTS: dict[int, Callable[[Reader], object]] = {
    FUNCTION: Reader.unsigned,
    TABLE: _table,
    MEMORY: _limits,
    GLOBAL: _kind_of_global,
}
DEFINITIONS: dict[int, Callable[[Numbers, Reader], bytes]] = {
    FUNCTIONS: _function,
    TABLES: lambda numbers, reader: _table(reader),
    MEMORIES: lambda numbers, reader: _limits(reader),
    GLOBALS: _global,
}
