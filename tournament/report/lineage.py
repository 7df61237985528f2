"""How a program came to be: each step's code as a difference, what was said of it, and what it was worth."""

import difflib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tournament.evolve.response import START
from tournament.program import Program
from tournament.report import tables
from tournament.report.text import printable
from tournament.store import GrownStep

CHAINS = """
    select chain, name
    from chains
    where run = {run} and chain in (
        select chain from steps join programs using (program) where digest = '{digest}'
    )
    order by chain
"""


def ancestry(steps: Sequence[GrownStep], program: Program) -> list[tuple[GrownStep, Program]]:
    """The steps of one seat up to the one that brought the program, each with the program before it."""
    last = next(s for s in steps if s.program and s.program.digest == program.digest)
    return [(s, p) for s, p in _with_program_before(steps, last.seat) if s.step <= last.step]


def _with_program_before(
    steps: Sequence[GrownStep], seat: int
) -> Iterator[tuple[GrownStep, Program]]:
    """What a seat's steps began with: what the turn has come to, else what stood when it began."""
    stood = now = START
    for step in steps:
        if step.seat == seat and step.turn == 0:
            now = stood
        if step.seat == seat:
            yield step, now
        if step.seat == seat and step.program:
            now = step.program
        if step.welfare is not None and (step.seat == seat or step.outcome == "restart"):
            stood = step.profile[seat]


def show(chain: str, found: Sequence[tuple[GrownStep, Program]], json: bool) -> None:
    """Print the steps."""
    if json:
        tables.show_json([_object(chain, step, before) for step, before in found])
        return
    for step, before in found:
        worth = "a gap" if step.welfare is None else f"welfare {step.welfare:g}"
        head = f"{chain}, step {step.step} (round {step.round}, seat {step.seat}): {worth}"
        sys.stdout.write(f"{head}, {step.outcome}\n")
        for line in [*step.critique.splitlines(), *"\n".join(step.problems).splitlines()]:
            sys.stdout.write(f"    {printable(line)}\n")
        sys.stdout.write(difference(before, step) + "\n")


def difference(before: Program, step: GrownStep) -> str:
    """What a step changed, as a unified diff; its outcome where it brought nothing."""
    if step.program is None:
        return f"    ({step.outcome})\n"
    old, new = before.source.splitlines(True), step.program.source.splitlines(True)
    return (
        "".join(difflib.unified_diff(old, new, before.name, step.program.name))
        or "    (unchanged)\n"
    )


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
