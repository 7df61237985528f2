"""Which modules a component is made of, and what each is given of the others."""

from dataclasses import dataclass, field

from tournament.errors import ImageError
from tournament.sandbox.wasm.binary import MODULE, Reader

FUNCTION, TABLE, MEMORY, GLOBAL = range(4)
"""Sorts of things that modules import, define and export."""
INSTANCES, ALIASES, CANON = 2, 6, 8
"""Kinds of sections of a component."""
CORE, OF_CORE_INSTANCE, OUTER = 0, 1, 2
LIFT, LOWER = 0, 1
FIRST_NUMBERED_OPTION = 3

Thing = tuple[int, int]
"""A sort, and a number among those of its sort."""
Taken = tuple[int, str] | None
"""An instance, by number, and the name of what it exports; None for the function that the component imports."""


@dataclass(frozen=True)
class Instance:
    """A module that is given other instances by name; or without one, a bundle of things that were taken."""

    module: int | None
    given: dict[str, int] = field(default_factory=dict)
    things: dict[str, Thing] = field(default_factory=dict)


class Wiring:
    """The modules of a component, its instances in order, and by sort what is taken from them."""

    def __init__(self, component: bytes) -> None:
        self.modules: list[bytes] = []
        self.instances: list[Instance] = []
        self.taken: dict[int, list[Taken]] = {
            sort: [] for sort in (FUNCTION, TABLE, MEMORY, GLOBAL)
        }
        for kind, content in Reader(component).sections():
            reader = Reader(content)
            if kind == MODULE:
                self.modules.append(content)
            elif kind == INSTANCES:
                self.instances += reader.many(_instance)
            elif kind == ALIASES:
                reader.many(self._alias)
            elif kind == CANON:
                reader.many(self._canon)

    def _alias(self, reader: Reader) -> None:
        sort = reader.byte()
        core_sort = reader.byte() if sort == CORE else None
        target, instance = reader.byte(), reader.unsigned()
        name = str(reader.unsigned()) if target == OUTER else reader.name()
        if core_sort is not None and target == OF_CORE_INSTANCE:
            self.taken[core_sort].append((instance, name))

    def _canon(self, reader: Reader) -> None:
        kind = reader.byte()
        if kind not in (LIFT, LOWER):
            raise ImageError("the sandbox image has resources")
        reader.byte()
        reader.unsigned()
        reader.many(_option)
        if kind == LIFT:
            reader.unsigned()
        else:
            self.taken[FUNCTION].append(None)


def _instance(reader: Reader) -> Instance:
    if reader.byte() == 0:
        module = reader.unsigned()
        return Instance(module, given=dict(reader.many(_given)))
    return Instance(None, things=dict(reader.many(_thing)))


def _option(reader: Reader) -> None:
    if reader.byte() >= FIRST_NUMBERED_OPTION:
        reader.unsigned()


def _given(reader: Reader) -> tuple[str, int]:
    name = reader.name()
    reader.byte()
    return name, reader.unsigned()


def _thing(reader: Reader) -> tuple[str, Thing]:
    return reader.name(), (reader.byte(), reader.unsigned())
