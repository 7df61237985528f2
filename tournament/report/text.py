"""Text that is safe to print, and numbers that say what they are meant to."""

import math

NOTHING = 1e-9
"""What is smaller is what rounding has left of zero."""


def printable(text: str) -> str:
    """The text with whatever might command a terminal, or hide from its reader, as an escape."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def counted(number: int, one: str, many: str = "") -> str:
    """How many of something, as `1 call` or `2,000 calls`; `many` is for what takes more than an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def decimals(value: float, places: int = 3) -> str:
    """A number to so many places, or to as many as a small one needs to have two digits."""
    if NOTHING <= abs(value) < 10.0 ** (1 - places):
        places = 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{places}f}"
