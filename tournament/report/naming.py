"""Find what a name on the command line means: a program, a step that produced one, or a chain of steps.

Chains and steps of another run, or of another plan in the same run, can have the same names. If a name fits several of
them, the latest is used and a message lists the others.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from tournament.errors import NotFound, UsageError
from tournament.program import Program
from tournament.store import Record, RecordedChain, RecordedStep

MOST_NAMED = 30
"""The greatest number of names that a message lists."""
LETTERS = {"rounds": "K", "steps": "T"}
"""The letters by which the command line and the PIBR paper call parts of a plan."""

Report = Callable[[str], None]
FoundStep = tuple[RecordedChain, int, str | None]
"""A step: its chain, its number in the chain, and the digest of its program (None if it produced none)."""


class Names:
    """Finds programs, steps and chains of a record by name.

    `run` and `chain` restrict all three to that run and to that chain. `report` is called with a message if a name
    fits more than one. Raises `UsageError` if there is no such chain.
    """

    def __init__(
        self, record: Record, report: Report, run: int | None = None, chain: int | None = None
    ) -> None:
        self._record = record
        self._report = report
        self._run = run
        self._chain = chain
        self._chains = chains_of(record, run, [] if chain is None else [chain])

    def program(self, named: str) -> Program:
        """Return the program of the step with this name, or else the program with this name, number or digest.

        Raises `UsageError` if there is no such program.
        """
        if found := self._find_steps(named):
            if len({digest for _, _, digest in found}) > 1:
                self._report_choice(named, [chain for chain, _, _ in found])
            _, step = self._load(named, found[0])
            assert step.program
            return step.program
        programs = self._record.programs_called(named, self._run, self._chain)
        if not programs:
            raise self._unknown(named)
        if len(programs) > 1:
            used, *others = (program.digest[:12] for program in programs)
            self._report(
                f"several programs are called {named}: {used} is used; choose another by its "
                f"digest: {_listed(others)}"
            )
        return programs[0]

    def step(self, named: str) -> tuple[RecordedChain, RecordedStep]:
        """Return the step with this name, or the first that produced the program with this name, and its chain.

        Raises `UsageError` if there is no such step, or if it produced no program.
        """
        found = self._find_steps(named)
        if not found:
            program = self.program(named)
            found = self._find_steps(program.digest)
            if not found:
                origin = f": it comes from {program.path}" if program.path else " in these chains"
                raise UsageError(f"{program.name} was not evolved{origin}")
        self._report_choice(named, [chain for chain, _, _ in found])
        return self._load(named, found[0])

    def chain(self, named: str) -> RecordedChain | None:
        """Return the latest chain with this name, or None if there is no such chain."""
        called = [chain for chain in reversed(self._chains) if chain.name == named]
        self._report_choice(named, called)
        return called[0] if called else None

    def _find_steps(self, named: str) -> list[FoundStep]:
        """Return the first step of each chain that has this name or produced the program with this digest.

        The steps of the latest chain come first.
        """
        chains = {chain.chain: chain for chain in self._chains}
        found: dict[int, FoundStep] = {}
        for chain, step, digest in self._record.steps_called(named):
            if chain in chains:
                found.setdefault(chain, (chains[chain], step, digest))
        return list(found.values())

    def _load(self, named: str, found: FoundStep) -> tuple[RecordedChain, RecordedStep]:
        """Load a step that was found. Raises `UsageError` if it produced no program."""
        chain, number, _ = found
        step = self._record.steps(chain.chain)[number]
        if step.program is None:
            steps = self._steps_with_programs(chain)
            raise UsageError(f"{named} produced no program ({step.outcome}); {steps}")
        return chain, step

    def _unknown(self, named: str) -> UsageError:
        """Return an error that says why there is no program with this name, and which names there are."""
        for chain in reversed(self._chains):
            if named == chain.name or named.startswith(f"{chain.name}_"):
                is_chain = f"{named} is a chain, not a program"
                problem = is_chain if named == chain.name else f"no step is called {named}"
                return UsageError(f"{problem}; {self._steps_with_programs(chain)}")
        within = {"run": self._run, "chain": self._chain}
        where = [f"{name} {number}" for name, number in within.items() if number is not None]
        kind = f"program of {' and '.join(where)}" if where else "program"
        names = {program.name for program in self._record.programs().values()} - {named}
        return NotFound(kind, named, get_close_matches(named, sorted(names)))

    def _steps_with_programs(self, chain: RecordedChain) -> str:
        steps = [chain.called(s) for s in self._record.steps(chain.chain) if s.program]
        return f"steps of chain {chain.chain} with a program: {_listed(steps)}"

    def _report_choice(self, named: str, chains: Sequence[RecordedChain]) -> None:
        """If a name was found in several chains, report that the first is used, and list the others."""
        if len(chains) > 1:
            used, *others = told_apart(chains)
            self._report(
                f"{named} is in several chains: chain {used} is used; choose another with "
                f"--chain: {_listed(others)}"
            )


def chains_of(record: Record, run: int | None, numbers: Sequence[int]) -> list[RecordedChain]:
    """Return the chains with these numbers, or all chains if no number is given; with `run`, only those of that run.

    Raises `UsageError` if a number is missing.
    """
    chains = [chain for chain in record.chains() if run in (None, chain.run)]
    known = [chain.chain for chain in chains]
    for number in numbers:
        if number not in known:
            where = "the record" if run is None else f"run {run}"
            raise UsageError(f"{where} has no chain {number}; there are: {_listed(known)}")
    return [chain for chain in chains if not numbers or chain.chain in numbers]


def chains_to_plot(
    record: Record, run: int, numbers: Sequence[int], report: Report
) -> list[RecordedChain]:
    """Return the chains of a run that a figure shows.

    These are the chains with these numbers. If no number is given, they are all chains that have the same oracles
    and plan as the latest one, and a message names the others. Raises `UsageError` if there are none.
    """
    chains = chains_of(record, run, numbers)
    if not chains:
        others = sorted({chain.run for chain in record.chains()})
        known = f"; runs with chains: {_listed(others)}" if others else ""
        raise UsageError(f"run {run} has no chains: see `tournament evolve --help`{known}")
    last = chains[-1]
    alike = [each for each in chains if (each.oracles, each.plan) == (last.oracles, last.plan)]
    if numbers or len(alike) == len(chains):
        return chains
    names = dict(zip([each.chain for each in chains], told_apart(chains), strict=True))
    used = _listed([names.pop(each.chain) for each in alike])
    report(f"chain {used} is drawn; choose another with --chain: {_listed([*names.values()])}")
    return alike


def told_apart(chains: Sequence[RecordedChain]) -> list[str]:
    """Describe each chain by its number and by those of its properties in which the chains differ."""
    facts = [
        {"run": chain.run, "oracle": ",".join(chain.oracles)}
        | {LETTERS.get(key, key): v for key, v in chain.plan.items() if v is not None}
        for chain in chains
    ]
    keys = dict.fromkeys(key for each in facts for key in each)
    different = [key for key in keys if any(f.get(key) != facts[0].get(key) for f in facts)]
    texts = [", ".join(f"{key} {each.get(key, 'unset')}" for key in different) for each in facts]
    return [f"{chain.chain} ({text})" for chain, text in zip(chains, texts, strict=True)]


def _listed(names: Sequence[object]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(str, names[:MOST_NAMED])) + more or "none"
