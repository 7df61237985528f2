"""Make text safe to print, and format numbers."""

import math

NOTHING = 1e-9
"""A number whose absolute value is smaller than this is taken for zero with a rounding error."""


def printable(text: str) -> str:
    """Return the text with escapes for characters that might control a terminal or be invisible.

    Line breaks and tabs are kept.
    """
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as `1 call` or `2,000 calls`. `many` is the plural if it is not `one` + s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def decimals(value: float, places: int = 3) -> str:
    """Return a number with this many decimal places, or with as many as a small one needs to show two digits."""
    if NOTHING <= abs(value) < 10.0 ** (1 - places):
        places = 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{places}f}"
