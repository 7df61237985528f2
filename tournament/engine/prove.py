"""Finds out what is provable about programs outside any match. A worker decides it, as it does for bots."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tournament.engine.batch import game_facts
from tournament.errors import UsageError
from tournament.game import Setting
from tournament.sandbox.call import OWN, digest_of
from tournament.sandbox.instance import Image
from tournament.sandbox.limits import Limits
from tournament.sandbox.powers import Powers

if TYPE_CHECKING:
    from tournament.sandbox.pool import Pool

NO_PARTICIPANTS = (("", ""), 0, (), OWN)
"""The call at which a statement is made that mentions neither `me` nor `them`."""


@dataclass(frozen=True)
class Answer:
    """Whether a statement is provable and whether it holds, and what the programs play at each world.

    `worlds` has for each world the moves by (program, opponent), with the names in the library. If the proof grew too
    large, `bound` says in which respect and nothing was decided.
    """

    provable: bool
    holds: bool
    worlds: tuple[dict[tuple[str, str], str | None], ...]
    bound: str = ""


async def prove(
    statement: str, setting: Setting, library: dict[str, str], limits: Limits, pool: "Pool"
) -> Answer:
    """Return the answer to a statement about programs of the library (sources by name).

    Raises `UsageError` if the statement is invalid, for example if it names an unknown program.
    """
    question = [statement, game_facts(setting), library, [limits.fuel, limits.memory]]
    found = await pool.call(json.dumps({"prove": question}).encode(), json.loads)
    if "problem" in found:
        raise UsageError(found["problem"])
    worlds = tuple({(p, q): move for p, q, move in world} for world in found["worlds"])
    return Answer(found["provable"], found["holds"], worlds, found["bound"])


def answer(image: Image, question: list[Any]) -> bytes:
    """Return the answer of a worker to a request of `prove`, as JSON."""
    text, facts, library, limits = question
    powers = Powers(image, facts, [], library, Limits(*limits))
    try:
        statement = powers.statement(text, 0, NO_PARTICIPANTS)
    except UsageError as error:
        return json.dumps({"problem": str(error)}).encode()
    verdict = powers.proof(()).decide(statement)
    names = {digest_of(source): name for name, source in library.items()}
    worlds = [
        [[names[program], names[against], move] for (program, against, _), move in world.items()]
        for world in verdict.worlds
    ]
    found = {"provable": verdict.provable, "holds": verdict.holds, "bound": verdict.bound}
    return json.dumps(found | {"worlds": worlds}).encode()
