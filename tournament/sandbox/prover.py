"""Runs programs at the worlds of proofs, each proof on a share of fuel of its own."""

from collections import defaultdict
from dataclasses import dataclass

from tournament.sandbox.call import OWN, Frame, Top
from tournament.sandbox.proof import Ask, Bound, Pair, Verdict, decide
from tournament.sandbox.simulation import Simulator
from tournament.sandbox.statement import Statement, size
from tournament.seeds import tape_name

STEP_FEE = 20_000
"""Fuel for looking at a statement at a world, for each of its parts."""
History = tuple[str, ...]


@dataclass(eq=False)
class Run:
    """A run of a program at a world: what it asked and was answered, its move as text if it has one, and its price."""

    asked: list[tuple[Statement, bool]]
    move: str | None
    price: int


class Runs:
    """All runs so far. A program that is answered as in one of them makes the same move."""

    def __init__(self) -> None:
        self._runs: dict[tuple[Pair, History], list[Run]] = defaultdict(list)

    def find(self, pair: Pair, history: History, ask: Ask) -> Run | None:
        """The run in which the program was answered as it would be now."""
        known = self._runs[pair, history]
        return next((run for run in known if all(ask(s) == a for s, a in run.asked)), None)

    def add(self, pair: Pair, history: History, run: Run) -> None:
        """Keep a run."""
        self._runs[pair, history].append(run)

    def clear(self) -> None:
        """Forget all runs."""
        self._runs.clear()


class Prover:
    """Decides one statement about programs that meet after a history; `spent` is the fuel that it took."""

    def __init__(self, simulator: Simulator, runs: Runs, history: History, fuel: int) -> None:
        self.spent = 0
        self._simulator = simulator
        self._runs = runs
        self._history = history
        self._fuel = fuel
        self._made = simulator.top.made
        self._paid: set[Run] = set()

    def verdict(self, statement: Statement) -> Verdict | str:
        """The verdict, or which bound was hit."""
        try:
            return decide(statement, self._move, self._step)
        except Bound as bound:
            return str(bound)

    def _step(self, statement: Statement) -> None:
        self._pay(STEP_FEE * size(statement))

    def _pay(self, price: int) -> None:
        self.spent = min(self._fuel, self.spent + price)
        if self.spent == self._fuel:
            raise Bound("its fuel ran out")

    def _move(self, pair: Pair, ask: Ask) -> str | None:
        """The move as text; None for a program that draws, breaks a rule or does not halt. Raises `Bound`.

        A run is paid for when this proof first needs it, whether or not another had it made.
        """
        run = self._runs.find(pair, self._history, ask)
        if run is None:
            run = self._run(pair, ask)
            self._runs.add(pair, self._history, run)
        if run not in self._paid:
            self._paid.add(run)
            self._pay(run.price)
        return run.move

    def _run(self, pair: Pair, ask: Ask) -> Run:
        program, against, seat = pair
        lineup = (program, against) if seat == 0 else (against, program)
        # A coin without a name: a program that looks at it has no provable move.
        frame = Frame((lineup, seat, self._history, OWN), tape_name("proof", *pair))
        asked: list[tuple[Statement, bool]] = []

        def noted(statement: Statement) -> bool:
            held = ask(statement)
            asked.append((statement, held))
            return held

        top = Top([], made=self._made, ask=noted, about=self._history)
        with self._simulator.within(top):
            once = self._simulator.plain(program)
            move, price = self._simulator.run(frame, self._fuel, once=once)
        found = None if top.void or top.drew else self._simulator.told(move, seat)
        return Run(asked, found, price)
