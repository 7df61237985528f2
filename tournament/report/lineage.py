"""Show how a program evolved: for each step the change to its code, the critique, and the welfare it reached."""

import difflib
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tournament.evolve.response import START
from tournament.program import Program
from tournament.report import tables
from tournament.report.naming import Names
from tournament.report.text import printable
from tournament.store import Record, RecordedChain, RecordedStep

Told = tuple[RecordedStep, Program]
"""A step, and the program that its seat had before the step."""


def story(record: Record, named: str, names: Names) -> tuple[RecordedChain, list[Told]]:
    """Return a chain and those of its steps that explain what has this name.

    For a chain these are all its steps. For a step or a program, they are the steps of its seat up to the step
    that has the name or produced the program. Raises `UsageError` if there is none, or if it produced no program.
    """
    if chain := names.chain(named):
        return chain, whole(record.steps(chain.chain))
    chain, step = names.step(named)
    return chain, ancestry(record.steps(chain.chain), step)


def whole(steps: Sequence[RecordedStep]) -> list[Told]:
    """Return the steps of all seats in order, each with the program before it."""
    seats = {step.seat for step in steps}
    told = [each for seat in seats for each in _with_program_before(steps, seat)]
    return sorted(told, key=lambda each: each[0].step)


def ancestry(steps: Sequence[RecordedStep], last: RecordedStep) -> list[Told]:
    """Return the steps of the seat of `last`, up to and including `last`, each with the program before it."""
    return [(s, p) for s, p in _with_program_before(steps, last.seat) if s.step <= last.step]


def _with_program_before(steps: Sequence[RecordedStep], seat: int) -> Iterator[Told]:
    """Yield the steps of a seat, each with the program before it.

    That is the latest program that the same turns at the seat have produced. Before the first of these turns, it is
    the seat's program in the last profile that could be evaluated.
    """
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


def show(chain: RecordedChain, found: Sequence[Told], json: bool) -> None:
    """Print the steps of a chain, each with its critique, its problems and the change to the program."""
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


def difference(before: Program, step: RecordedStep) -> str:
    """Return what a step changed as a unified diff, or the step's outcome if it produced no program."""
    if step.program is None:
        return f"    ({step.outcome})\n"
    old, new = before.source.splitlines(True), step.program.source.splitlines(True)
    return (
        "".join(difflib.unified_diff(old, new, before.name, step.program.name))
        or "    (unchanged)\n"
    )


def _object(chain: RecordedChain, step: RecordedStep, before: Program) -> dict[str, Any]:
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
