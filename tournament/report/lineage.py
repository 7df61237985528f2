"""How a program came to be: each step's code as a difference, what was said of it, and what it was worth."""

import difflib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tournament.evolve.response import START
from tournament.program import Program
from tournament.report import tables
from tournament.report.naming import Names
from tournament.report.text import printable
from tournament.store import GrownChain, GrownStep, Record

Told = tuple[GrownStep, Program]
"""A step, and the program that it began with."""


def story(record: Record, named: str, names: Names) -> tuple[GrownChain, list[Told]]:
    """How what has that name came to be: all steps of a chain, or those of a seat up to the one that brought a program.

    Raises `UsageError`.
    """
    if chain := names.chain(named):
        return chain, whole(record.steps(chain.chain))
    chain, step = names.step(named)
    return chain, ancestry(record.steps(chain.chain), step)


def whole(steps: Sequence[GrownStep]) -> list[Told]:
    """The steps of all seats."""
    seats = {step.seat for step in steps}
    told = [each for seat in seats for each in _with_program_before(steps, seat)]
    return sorted(told, key=lambda each: each[0].step)


def ancestry(steps: Sequence[GrownStep], last: GrownStep) -> list[Told]:
    """The steps of one seat up to the last."""
    return [(s, p) for s, p in _with_program_before(steps, last.seat) if s.step <= last.step]


def _with_program_before(steps: Sequence[GrownStep], seat: int) -> Iterator[Told]:
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


def show(chain: GrownChain, found: Sequence[Told], json: bool) -> None:
    """Print the steps."""
    if json:
        tables.show_json([_object(chain, step, before) for step, before in found])
        return
    for step, before in found:
        worth = "a gap" if step.welfare is None else f"welfare {step.welfare:g}"
        where = f"{chain.name} (chain {chain.chain}), step {step.step}"
        head = f"{where} (round {step.round}, seat {step.seat}): {worth}"
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


def _object(chain: GrownChain, step: GrownStep, before: Program) -> dict[str, Any]:
    return {
        "chain": chain.chain,
        "name": chain.called(step),
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
