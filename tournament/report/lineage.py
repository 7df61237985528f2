"""How a program came to be: each step's code as a difference, what was said of it, and what it was worth."""

import difflib
import sys
from collections.abc import Sequence
from typing import Any

from tournament.program import Program
from tournament.report import tables
from tournament.store import GrownStep

CHAINS = """
    select chain, name
    from chains
    where chain in (
        select chain from steps join programs using (program) where digest = '{digest}'
    )
    order by chain
"""


def ancestry(steps: Sequence[GrownStep], program: Program) -> list[tuple[GrownStep, Program]]:
    """The steps of one seat up to the one that brought the program, each with the program before it."""
    last = next(s for s in steps if s.program and s.program.digest == program.digest)
    mine = [s for s in steps if s.seat == last.seat and s.step <= last.step]
    before = [_before(steps, step) for step in mine]
    return list(zip(mine, before, strict=True))


def _before(steps: Sequence[GrownStep], step: GrownStep) -> Program:
    earlier = [s.profile[step.seat] for s in steps if s.step < step.step]
    return earlier[-1] if earlier else Program("start", "")


def show(chain: str, found: Sequence[tuple[GrownStep, Program]], json: bool) -> None:
    """Print the steps."""
    if json:
        tables.show_json([_object(chain, step, before) for step, before in found])
        return
    for step, before in found:
        welfare = "a gap" if step.welfare is None else f"welfare {step.welfare:g}"
        sys.stdout.write(f"{chain}, step {step.step} (round {step.round}, seat {step.seat}): {welfare}\n")
        for line in [*step.problems, *step.critique.splitlines()]:
            sys.stdout.write(f"    {line}\n")
        sys.stdout.write(difference(before, step) + "\n")


def difference(before: Program, step: GrownStep) -> str:
    """What a step changed, as a unified diff; its outcome where it brought nothing."""
    if step.program is None:
        return f"    ({step.outcome})\n"
    old, new = before.source.splitlines(True), step.program.source.splitlines(True)
    return "".join(difflib.unified_diff(old, new, before.name, step.program.name)) or "    (unchanged)\n"


def _object(chain: str, step: GrownStep, before: Program) -> dict[str, Any]:
    return {
        "chain": chain,
        "step": step.step,
        "round": step.round,
        "seat": step.seat,
        "turn": step.turn,
        "welfare": step.welfare,
        "outcome": step.outcome,
        "critique": step.critique,
        "problems": list(step.problems),
        "program": step.program and step.program.digest,
        "diff": difference(before, step),
    }
