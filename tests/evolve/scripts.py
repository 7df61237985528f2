"""A server's author of programs, good and bad, who always answers the same prompt alike."""

from typing import Any

from tests.evolve.conftest import always, asks_for_critique, code, prompt_of, says
from tests.oracles.server import Does

CRITIQUE = "Others do not play what your program hopes for."
GROWN = "# grown\n"
RAISES = "def act(view):\n    return 1 / 0\n"


def author(body: dict[str, Any], number: int) -> Does:
    """A critique where that is asked for, else what follows the program that there is."""
    return says(CRITIQUE if asks_for_critique(body) else _after(prompt_of(body)))


def slow_author(body: dict[str, Any], number: int) -> Does:
    """The same, but it takes a moment."""
    return Does(author(body, number).body, delay=0.1)


def _after(prompt: str) -> str:
    """The first seat begins with b and the second with x, which is illegal; b is followed by an error, then c."""
    own = prompt.partition("# Your program as it is")[2].partition("# What was found")[0]
    if "return 'b'" in own:
        return code(RAISES)
    if "1 / 0" in own:
        return code(GROWN + always("c"))
    if "return 'c'" in own and "no program in it" not in prompt:
        return "Sure! I would cooperate."
    if own or "Your seat: 0" in prompt:
        return code(GROWN + always("b"))
    return code(always("x"))
