"""Decides statements by running the programs at the worlds of a proof. Each proof has its own share of fuel."""

from collections import defaultdict
from dataclasses import dataclass

from tournament.sandbox.call import OWN, Frame, Top
from tournament.sandbox.proof import Ask, Bound, Pair, Verdict, decide
from tournament.sandbox.simulation import Simulator
from tournament.sandbox.statement import Statement, size
from tournament.seeds import tape_name

STEP_FEE = 20_000
"""Fuel charged for evaluating a statement at a world, per part of the statement."""
History = tuple[str, ...]


@dataclass(eq=False)
class Run:
    """One run of a program at a world of a proof.

    `asked` has the statements it asked about with the answers it got, `move` is its move as text, or None if it has no
    provable move, and `price` is the fuel that the run costs.
    """

    asked: list[tuple[Statement, bool]]
    move: str | None
    price: int


class Runs:
    """All runs so far, by programs, seat and history.

    A program that gets the same answers as in an earlier run makes the same move, so it is not run again.
    """

    def __init__(self) -> None:
        self._runs: dict[tuple[Pair, History], list[Run]] = defaultdict(list)

    def find(self, pair: Pair, history: History, ask: Ask) -> Run | None:
        """Return the run in which the program got the same answers as `ask` gives, or None."""
        known = self._runs[pair, history]
        return next((run for run in known if all(ask(s) == a for s, a in run.asked)), None)

    def add(self, pair: Pair, history: History, run: Run) -> None:
        """Add a run to those that are kept."""
        self._runs[pair, history].append(run)

    def clear(self) -> None:
        """Forget all runs."""
        self._runs.clear()


class Prover:
    """Decides one statement about programs that meet after a history. `spent` is the fuel used so far."""

    def __init__(self, simulator: Simulator, runs: Runs, history: History, fuel: int) -> None:
        self.spent = 0
        self._simulator = simulator
        self._runs = runs
        self._history = history
        self._fuel = fuel
        self._made = simulator.top.made
        self._paid: set[Run] = set()

    def verdict(self, statement: Statement) -> Verdict | str:
        """Return the verdict on the statement, or a text that says which bound was hit."""
        try:
            return decide(statement, self._move, self._step)
        except Bound as bound:
            return str(bound)

    def _step(self, statement: Statement) -> None:
        self._pay(STEP_FEE * size(statement))

    def _pay(self, price: int) -> None:
        """Use fuel of this proof's share. Raises `Bound` if none is left."""
        self.spent = min(self._fuel, self.spent + price)
        if self.spent == self._fuel:
            raise Bound("its fuel ran out")

    def _move(self, pair: Pair, ask: Ask) -> str | None:
        """Return a program's move as text, or None if it reads a tape, breaks a rule or does not halt. Raises `Bound`.

        A proof pays for each run that it needs once, even if the run was already made for another proof. So the price
        of a proof does not depend on earlier proofs.
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
        """Run a program at a world, where `ask` answers what it asks `proves`."""
        program, against, seat = pair
        lineup = (program, against) if seat == 0 else (against, program)
        # The public coin needs no name here, since a program that reads it has no provable move.
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
