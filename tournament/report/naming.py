"""Find what a name on the command line means: a program, a step that produced one, or a chain of steps.

Chains and steps of another run, or of another plan in the same run, can have the same names. If a name fits several of
them, the latest is used and a message lists the others.
"""

import json
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from tournament.errors import NotFound, UsageError
from tournament.program import Program
from tournament.store import Record, RecordedChain, RecordedStep

MOST_NAMED = 30
"""The greatest number of names that a message lists."""
LETTERS = {"rounds": "K", "steps": "T"}
"""The letters by which the command line and the PIBR paper call parts of a plan."""

Say = Callable[[str], None]
Place = tuple[RecordedChain, int, str | None]
"""A step: its chain, its number in the chain, and the digest of its program (None if it produced none)."""


class Names:
    """Finds programs, steps and chains of a record by name.

    `run` restricts all three to that run, and `chain` restricts steps and chains to that chain. `say` is called with
    a message if a name fits more than one. Raises `UsageError` if there is no such chain.
    """

    def __init__(
        self, record: Record, say: Say, run: int | None = None, chain: int | None = None
    ) -> None:
        self._record = record
        self._say = say
        self._run = run
        self._chains = chains_of(record, run, [] if chain is None else [chain])

    def program(self, named: str) -> Program:
        """Return the program of the step with this name, or else the program with this name, number or digest.

        Raises `UsageError` if there is no such program.
        """
        if places := self._places(named):
            if len({digest for _, _, digest in places}) > 1:
                self._say_which(named, [chain for chain, _, _ in places])
            _, step = self._taken(named, places[0])
            assert step.program
            return step.program
        programs = self._record.programs_called(named, self._run)
        if not programs:
            raise self._unknown(named)
        if len(programs) > 1:
            taken, *others = (program.digest[:12] for program in programs)
            self._say(f"{named}: this is {taken}; so are called, too: {', '.join(others)}")
        return programs[0]

    def step(self, named: str) -> tuple[RecordedChain, RecordedStep]:
        """Return the step with this name, or the first that produced the program with this name, and its chain.

        Raises `UsageError` if there is no such step, or if it produced no program.
        """
        places = self._places(named)
        if not places:
            program = self.program(named)
            places = self._places(program.digest)
            if not places:
                raise UsageError(f"{program.name} was not grown{_origin(program)}")
        self._say_which(named, [chain for chain, _, _ in places])
        return self._taken(named, places[0])

    def chain(self, named: str) -> RecordedChain | None:
        """Return the latest chain with this name, or None if there is no such chain."""
        called = [chain for chain in reversed(self._chains) if chain.name == named]
        self._say_which(named, called)
        return called[0] if called else None

    def _places(self, named: str) -> list[Place]:
        """Return the first step of each chain that has this name or produced the program with this digest.

        The steps of the latest chain come first.
        """
        chains = {chain.chain: chain for chain in self._chains}
        found: dict[int, Place] = {}
        for chain, step, digest in self._record.steps_called(named):
            if chain in chains:
                found.setdefault(chain, (chains[chain], step, digest))
        return list(found.values())

    def _taken(self, named: str, place: Place) -> tuple[RecordedChain, RecordedStep]:
        """Load a step that was found. Raises `UsageError` if it produced no program."""
        chain, number, _ = place
        step = self._record.steps(chain.chain)[number]
        if step.program is None:
            steps = self._steps_with_programs(chain)
            raise UsageError(f"{named} brought no program ({step.outcome}); {steps}")
        return chain, step

    def _unknown(self, named: str) -> UsageError:
        """Return an error that says why there is no program with this name, and which names there are."""
        for chain in reversed(self._chains):
            if named == chain.name:
                return UsageError(f"{named} is a chain; {self._steps_with_programs(chain)}")
            if named.startswith(f"{chain.name}_"):
                return UsageError(f"no step is called {named}; {self._steps_with_programs(chain)}")
        kind = "program" if self._run is None else f"program of run {self._run}"
        names = {program.name for program in self._record.programs().values()} - {named}
        return NotFound(kind, named, get_close_matches(named, sorted(names)))

    def _steps_with_programs(self, chain: RecordedChain) -> str:
        steps = [chain.called(s) for s in self._record.steps(chain.chain) if s.program]
        return f"steps of chain {chain.chain} that brought a program: {_listed(steps)}"

    def _say_which(self, named: str, chains: Sequence[RecordedChain]) -> None:
        """If a name was found in several chains, report that the first is used, and list the others."""
        if len(chains) > 1:
            taken, *others = told_apart(chains)
            self._say(f"{named}: of chain {taken}; --chain N takes another: {_listed(others)}")


def chains_of(record: Record, run: int | None, numbers: Sequence[int]) -> list[RecordedChain]:
    """Return the chains with these numbers, or all chains if no number is given; with `run`, only those of that run.

    Raises `UsageError` if a number is missing.
    """
    chains = [chain for chain in record.chains() if run in (None, chain.run)]
    there = [chain.chain for chain in chains]
    for number in numbers:
        if number not in there:
            where = "the record" if run is None else f"run {run}"
            known = _listed([*map(str, there)])
            raise UsageError(f"{where} has no chain {number}; there are: {known}")
    return [chain for chain in chains if not numbers or chain.chain in numbers]


def drawn(record: Record, run: int, numbers: Sequence[int], say: Say) -> list[RecordedChain]:
    """Return the chains of a run that a figure shows.

    These are the chains with these numbers. If no number is given, they are all chains that have the same oracles
    and plan as the latest one, and a message names the others. Raises `UsageError` if there are none.
    """
    chains = chains_of(record, run, numbers)
    if not chains:
        others = sorted({chain.run for chain in record.chains()})
        there = f"; runs with chains: {_listed([*map(str, others)])}" if others else ""
        raise UsageError(f"nothing was grown in run {run}: see `tournament evolve --help`{there}")
    return chains if numbers else _evolved_alike(chains, say)


def _evolved_alike(chains: Sequence[RecordedChain], say: Say) -> list[RecordedChain]:
    """Return the chains with the oracles and plan of the last one; a message says if that leaves some out."""
    last = chains[-1]
    alike = [each for each in chains if (each.oracles, each.plan) == (last.oracles, last.plan)]
    if len(alike) < len(chains):
        told = dict(zip([each.chain for each in chains], told_apart(chains), strict=True))
        mine = _listed([told.pop(each.chain) for each in alike])
        say(f"drawn: chain {mine}; --chain N draws another: {_listed([*told.values()])}")
    return alike


def told_apart(chains: Sequence[RecordedChain]) -> list[str]:
    """Describe each chain by its number and by those of its properties in which the chains differ."""
    facts = [_facts(chain) for chain in chains]
    different = [key for key in _keys(facts) if len({json.dumps(f.get(key)) for f in facts}) > 1]
    told = [", ".join(f"{key} {each.get(key, 'unset')}" for key in different) for each in facts]
    return [f"{chain.chain} ({text})" for chain, text in zip(chains, told, strict=True)]


def _facts(chain: RecordedChain) -> dict[str, Any]:
    """Return the properties by which `told_apart` can distinguish chains."""
    plan = {LETTERS.get(key, key): v for key, v in chain.plan.items() if v is not None}
    return {"run": chain.run, "oracle": ",".join(chain.oracles)} | plan


def _keys(facts: Sequence[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for each in facts for key in each))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more or "none"


def _origin(program: Program) -> str:
    """Return how to continue a message that a program was not evolved."""
    return f": it came from {program.path}" if program.path else " by any of these chains"
