"""Scripts for a server that writes good and bad programs, and always gives the same answer to the same prompt."""

from typing import Any

from tests.evolve.conftest import always, asks_for_critique, code, prompt_of, reply_with
from tests.oracles.server import Does

CRITIQUE = "Others do not play what your program hopes for."
EVOLVED = "# grown\n"
RAISES = "def act(view):\n    return 1 / 0\n"


def author(body: dict[str, Any], number: int) -> Does:
    """Reply with a critique if one is asked for, and otherwise with the program that follows the present one."""
    return reply_with(CRITIQUE if asks_for_critique(body) else _after(prompt_of(body)))


def slow_author(body: dict[str, Any], number: int) -> Does:
    """Reply like `author`, a tenth of a second later."""
    return Does(author(body, number).body, delay=0.1)


def _after(prompt: str) -> str:
    """Return the program that follows the one in the prompt: after b one that raises, after that one c.

    The first program of seat 0 plays b, and that of seat 1 plays x, which is illegal.
    """
    own = prompt.partition("# Your program as it is")[2].partition("# What was found")[0]
    if "return 'b'" in own:
        return code(RAISES)
    if "1 / 0" in own:
        return code(EVOLVED + always("c"))
    if "return 'c'" in own and "no program in it" not in prompt:
        return "Sure! I would cooperate."
    if own or "Your seat: 0" in prompt:
        return code(EVOLVED + always("b"))
    return code(always("x"))
