"""How much fuel and memory a program may use."""

from dataclasses import dataclass

LEAST_FUEL = 5_000_000
"""The smallest limit on fuel: less is not even enough to load a program."""
MOST_FUEL = 10**15
"""The largest limit on fuel: about a day for one move. The runtime cannot count much further."""


@dataclass(frozen=True)
class Limits:
    """The limits of an instance: the fuel for one call, and the bytes of memory.

    One unit of fuel is about one WebAssembly instruction; a tenth of a second uses about 1e9.
    """

    fuel: int = 1_000_000_000
    memory: int = 64 * 1024 * 1024
