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

Change = tuple[RecordedStep, Program]
"""A step, and the program that its seat had before the step."""


def find_steps(record: Record, named: str, names: Names) -> tuple[RecordedChain, list[Change]]:
    """Return a chain and those of its steps that explain what has this name.

    For a chain these are all its steps. For a step or a program, they are the steps of its seat up to the step
    that has the name or produced the program. Raises `UsageError` if there is none, or if it produced no program.
    """
    if chain := names.chain(named):
        steps = record.steps(chain.chain)
        seats = {step.seat for step in steps}
        changes = [change for seat in seats for change in _changes(steps, seat)]
        return chain, sorted(changes, key=lambda change: change[0].step)
    chain, last = names.step(named)
    steps = record.steps(chain.chain)
    return chain, [each for each in _changes(steps, last.seat) if each[0].step <= last.step]


def _changes(steps: Sequence[RecordedStep], seat: int) -> Iterator[Change]:
    """Yield the steps of a seat, each with the program before it.

    That is the latest program that the same turns at the seat have produced. Before the first of these turns, it is
    the seat's program in the last profile that could be evaluated.
    """
    evaluated = latest = START
    for step in steps:
        if step.seat == seat:
            before = evaluated if step.turn == 0 else latest
            yield step, before
            latest = step.program or before
        if step.welfare is not None and (step.seat == seat or step.outcome == "restart"):
            evaluated = step.profile[seat]


def show(chain: RecordedChain, changes: Sequence[Change], json: bool) -> None:
    """Print the steps of a chain, each with its critique, its problems and the change to the program."""
    if json:
        tables.show_json([_object(chain, step, before) for step, before in changes])
        return
    for step, before in changes:
        result = "no welfare" if step.welfare is None else f"welfare {step.welfare:g}"
        name = f"{chain.name} (chain {chain.chain}), step {step.step}"
        where = f"round {step.round}, seat {step.seat}"
        sys.stdout.write(f"{name} ({where}): {result}, {step.outcome}\n")
        for line in [*step.critique.splitlines(), *"\n".join(step.problems).splitlines()]:
            sys.stdout.write(f"    {printable(line)}\n")
        sys.stdout.write(difference(before, step) + "\n")


def difference(before: Program, step: RecordedStep) -> str:
    """Return what a step changed as a unified diff, or the step's outcome if it produced no program."""
    if step.program is None:
        return f"    ({step.outcome})\n"
    old, new = before.source.splitlines(True), step.program.source.splitlines(True)
    lines = difflib.unified_diff(old, new, before.name, step.program.name)
    return "".join(lines) or "    (unchanged)\n"


def _object(chain: RecordedChain, step: RecordedStep, before: Program) -> dict[str, Any]:
    fields = ("step", "round", "seat", "turn", "welfare", "outcome", "critique", "problems")
    return {
        "chain": chain.chain,
        "name": chain.called(step),
        **{field: getattr(step, field) for field in fields},
        "program": step.program and step.program.digest,
        "diff": difference(before, step),
    }
