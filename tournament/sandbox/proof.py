"""Decides what is provable about programs, by running them at the worlds of a finite linear Kripke frame.

A program that halts and examines its opponent only through `proves` is a modal agent, and provability about such
agents is decidable (Barasz et al. 2014, section 4; the logic is GL). At world n the question "is s provable?" is
answered by "did s hold at every world below n?", so at world 0 everything is provable. A statement is evaluated at a
world by running the programs that it names there, and their own questions are answered by the same rule. From world to
world an answer can only change from yes to no. The first world with the same answers as the world before is the fixed
point, and the moves made there are the moves that the programs really make.

This module does not run programs itself: a proof is given a function that does.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from tournament.sandbox.statement import IsProvable, Plays, Statement, evaluate, size

MOST_STATEMENTS = 200
MOST_WORLDS = 200
"""A proof may involve at most so many statements and worlds."""
STEP_FEE = 20_000
"""Fuel charged for evaluating a statement at a world, per part of the statement."""

History = tuple[str, ...]
Pair = tuple[str, str, int]
"""The digest of a program, the digest of its opponent, and the seat of the program."""
Moves = dict[Pair, str | None]
"""The moves made at a world, as text. A move is None if the program has no provable move."""


@dataclass(eq=False)
class Run:
    """One run of a program at a world.

    `asked` has the statements that the program asked about, with the answers it got. `move` is its move as text, or
    None if it has no provable move: it read a tape, broke a rule or did not halt. `price` is the run's cost in fuel.
    """

    asked: list[tuple[Statement, bool]]
    move: str | None
    price: int = 0


Runs = dict[tuple[Pair, History], list[Run]]
"""The runs of earlier proofs. A program that gets the same answers as in one of them makes the same move again."""
RunProgram = Callable[[Pair, History, IsProvable, int], Run]
"""Runs the first program of a pair after a history, with a limit of fuel and with its questions answered."""


class Bound(Exception):
    """Raised when a proof becomes too large. `str()` of the exception says which bound was hit."""


@dataclass(frozen=True)
class Verdict:
    """The result of a proof: whether the statement is provable, whether it holds, and the moves made at each world.

    `price` is the fuel that the proof costs. If the proof became too large, nothing was decided and `bound` says why.
    """

    provable: bool = False
    holds: bool = False
    worlds: tuple[Moves, ...] = ()
    bound: str = ""
    price: int = 0


class Proof:
    """Decides one statement about programs that meet after a history, with a limit of fuel.

    The proof pays once for each run that it needs, even if the run was already made for another proof. So the price of
    a proof does not depend on earlier proofs.
    """

    def __init__(
        self, run: RunProgram, fuel: int, history: History = (), runs: Runs | None = None
    ) -> None:
        self._run = run
        self._fuel = fuel
        self._history = history
        self._runs: Runs = defaultdict(list) if runs is None else runs
        self._paid: set[Run] = set()
        self._price = 0
        self._held: dict[Statement, bool] = {}
        """Whether each statement held at every world below the present one."""
        self._asked: dict[Statement, None] = {}
        """The statements that programs ask about at the present world."""
        self._moves: Moves = {}

    def decide(self, statement: Statement) -> Verdict:
        """Go through the worlds until no answer changes, and return the verdict on the statement."""
        held = {statement: True}
        worlds: list[Moves] = []
        try:
            while len(worlds) < MOST_WORLDS:
                now = self._evaluate_world(held)
                if now == held:
                    holds = evaluate(statement, self._plays, self._provable) is True
                    moves = (*worlds, self._moves)
                    return Verdict(held[statement], holds, moves, price=self._price)
                if worlds and now.keys() - held.keys():
                    # A statement that is new here was not evaluated at the worlds below: start again.
                    held, worlds = dict.fromkeys(now, True), []
                else:
                    held = now
                    worlds.append(self._moves)
            raise Bound(f"no fixed point within {MOST_WORLDS} worlds")
        except Bound as bound:
            return Verdict(bound=str(bound), price=self._price)

    def _evaluate_world(self, held: dict[Statement, bool]) -> dict[Statement, bool]:
        """Return, for every statement that comes up at the next world, whether it holds there and at all worlds below.

        `held` says whether it holds at all worlds below.
        """
        self._held, self._asked, self._moves = held, {}, {}
        now: dict[Statement, bool] = {}
        pending = [*held]
        while pending:
            statement = pending.pop()
            if statement in now:
                continue
            if len(now) >= MOST_STATEMENTS:
                raise Bound(f"more than {MOST_STATEMENTS} statements hang together")
            self._pay(STEP_FEE * size(statement))
            holds = evaluate(statement, self._plays, self._provable) is True
            now[statement] = holds and held.get(statement, True)
            pending += [asked for asked in self._asked if asked not in now]
        return now

    def _provable(self, statement: Statement) -> bool:
        """Whether a statement is provable, as seen from the present world.

        If the statement was never evaluated below, it is taken to have held there; `decide` starts again in that case.
        """
        self._asked[statement] = None
        return self._held.get(statement, True)

    def _plays(self, atom: Plays) -> bool | None:
        """Whether the named program makes the named move at this world; None if it has no provable move."""
        pair = (atom.program, atom.against, atom.seat)
        if pair not in self._moves:
            known = self._runs[pair, self._history]
            run = next((r for r in known if all(self._provable(s) == a for s, a in r.asked)), None)
            if run is None:
                run = self._run(pair, self._history, self._provable, self._fuel)
                known.append(run)
            if run not in self._paid:
                self._paid.add(run)
                self._pay(run.price)
            self._moves[pair] = run.move
        move = self._moves[pair]
        return None if move is None else move == atom.move

    def _pay(self, price: int) -> None:
        """Use fuel of this proof. Raises `Bound` if none is left."""
        self._price = min(self._fuel, self._price + price)
        if self._price == self._fuel:
            raise Bound("its fuel ran out")
