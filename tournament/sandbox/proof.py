"""Decides what is provable about programs, by running them at the worlds of a finite linear Kripke frame.

A program that halts and looks at its opponent only through `proves` is a modal agent, and provability about such
agents is decidable (Barasz et al. 2014, section 4; the logic is GL). At world n a question "is s provable?" is
answered "did s hold at every world below n?", so at world 0 everything is provable; s is evaluated at a world by
running the programs it names there, with their own questions answered by the same rule. Answers only ever turn from
yes to no. The first world at which all answers are as at the one before is the fixed point, and what is played there
is what is really played.

Nothing here knows how programs are run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tournament.sandbox.statement import Plays, Statement, evaluate

MOST_STATEMENTS = 200
MOST_WORLDS = 200

Ask = Callable[[Statement], bool]
Pair = tuple[str, str, int]
"""A program, what it plays against, and its seat."""
Run = Callable[[Pair, Ask], str | None]
"""The move that a program makes against another when its questions are answered so; None if it has none."""
Step = Callable[[Statement], None]
"""Told of every statement that is looked at at a world: proofs are bounded by what they take. May raise `Bound`."""


class Bound(Exception):
    """A proof grew too large; `str()` says in which respect."""


@dataclass(frozen=True)
class Verdict:
    """Whether a statement is provable, whether it holds, and the moves at each world, by pair."""

    provable: bool
    holds: bool
    worlds: tuple[dict[Pair, str | None], ...]


class World:
    """One world: `held` says of each statement whether it held at every world below."""

    def __init__(self, held: dict[Statement, bool], run: Run) -> None:
        self.held = held
        self.asked: dict[Statement, None] = {}
        self.moves: dict[Pair, str | None] = {}
        self._run = run

    def provable(self, statement: Statement) -> bool:
        """The answer to a question at this world. A statement first asked here held below, for all that is known."""
        self.asked[statement] = None
        return self.held.get(statement, True)

    def plays(self, atom: Plays) -> bool | None:
        """Whether a program plays a move at this world."""
        pair = (atom.program, atom.against, atom.seat)
        if pair not in self.moves:
            self.moves[pair] = self._run(pair, self.provable)
        move = self.moves[pair]
        return None if move is None else move == atom.move

    def holds(self, statement: Statement) -> bool | None:
        """Whether a statement holds at this world."""
        return evaluate(statement, self.plays, self.provable)


def decide(statement: Statement, run: Run, step: Step = lambda statement: None) -> Verdict:
    """The verdict on a statement whose programs are run by `run`. Raises `Bound`."""
    held = {statement: True}
    worlds: list[World] = []
    while len(worlds) < MOST_WORLDS:
        world = World(held, run)
        now = _next(world, step)
        if now == held:
            moves = tuple(world.moves for world in [*worlds, world])
            return Verdict(held[statement], world.holds(statement) is True, moves)
        if worlds and now.keys() - held.keys():
            # What is asked here for the first time was not looked at in the worlds below: begin again.
            held, worlds = dict.fromkeys(now, True), []
        else:
            held = now
            worlds.append(world)
    raise Bound(f"no fixed point within {MOST_WORLDS} worlds")


def _next(world: World, step: Step) -> dict[Statement, bool]:
    """For every statement that comes up at this world, whether it held so far and holds here too."""
    now: dict[Statement, bool] = {}
    pending = [*world.held]
    while pending:
        statement = pending.pop()
        if statement in now:
            continue
        if len(now) >= MOST_STATEMENTS:
            raise Bound(f"more than {MOST_STATEMENTS} statements hang together")
        step(statement)
        now[statement] = world.holds(statement) is True and world.held.get(statement, True)
        pending += [asked for asked in world.asked if asked not in now]
    return now
