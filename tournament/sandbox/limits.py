"""What a program may use."""

from dataclasses import dataclass

LEAST_FUEL = 5_000_000
"""Less is not even enough to load a program."""
MOST_FUEL = 10**15
"""About a day for one move; the runtime cannot count much further."""


@dataclass(frozen=True)
class Limits:
    """Fuel (WebAssembly instructions, about 1e9 in a tenth of a second) for one call, and bytes of memory."""

    fuel: int = 1_000_000_000
    memory: int = 64 * 1024 * 1024
