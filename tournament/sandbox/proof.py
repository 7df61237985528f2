"""Decides what is provable about programs, by running them at the worlds of a finite linear Kripke frame.

A program that halts and examines its opponent only through `proves` is a modal agent, and provability about such
agents is decidable (Barasz et al. 2014, section 4; the logic is GL). At world n the question "is s provable?" is
answered by "did s hold at every world below n?", so at world 0 everything is provable. A statement is evaluated at a
world by running the programs that it names there, and their own questions are answered by the same rule. From world to
world an answer can only change from yes to no. The first world with the same answers as the world before is the fixed
point, and the moves made there are the moves that the programs really make.

This module does not run programs itself: its caller passes a function that does.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tournament.sandbox.statement import Plays, Statement, evaluate

MOST_STATEMENTS = 200
MOST_WORLDS = 200
"""A proof may involve at most so many statements and worlds."""

Ask = Callable[[Statement], bool]
"""Answers at a world whether a statement is provable."""
Pair = tuple[str, str, int]
"""The digest of a program, the digest of its opponent, and the seat of the program."""
Run = Callable[[Pair, Ask], str | None]
"""Returns the move that the first program of a pair makes, with its questions answered by the `Ask`.

It returns None if the program has no provable move, and may raise `Bound`.
"""
Step = Callable[[Statement], None]
"""Called once for each statement that is evaluated at a world, so that the caller can count the cost of the proof.

It may raise `Bound` to stop the proof.
"""


class Bound(Exception):
    """Raised when a proof becomes too large. `str()` of the exception says which bound was hit."""


@dataclass(frozen=True)
class Verdict:
    """The result of a proof: whether the statement is provable, whether it holds, and each world's moves by pair."""

    provable: bool
    holds: bool
    worlds: tuple[dict[Pair, str | None], ...]


class World:
    """One world of the frame. `held` has, by statement, whether the statement held at every world below.

    `asked` collects the statements that programs ask about here, and `moves` the moves made here by pair.
    """

    def __init__(self, held: dict[Statement, bool], run: Run) -> None:
        self.held = held
        self.asked: dict[Statement, None] = {}
        self.moves: dict[Pair, str | None] = {}
        self._run = run

    def provable(self, statement: Statement) -> bool:
        """Whether a statement is provable, as seen from this world.

        If the statement was never evaluated below, it is taken to have held there; `decide` starts again in that case.
        """
        self.asked[statement] = None
        return self.held.get(statement, True)

    def plays(self, atom: Plays) -> bool | None:
        """Whether the named program makes the named move at this world; None if it has no provable move."""
        pair = (atom.program, atom.against, atom.seat)
        if pair not in self.moves:
            self.moves[pair] = self._run(pair, self.provable)
        move = self.moves[pair]
        return None if move is None else move == atom.move

    def holds(self, statement: Statement) -> bool | None:
        """Whether a statement holds at this world; None if that depends on a program without a provable move."""
        return evaluate(statement, self.plays, self.provable)


def decide(statement: Statement, run: Run, step: Step = lambda statement: None) -> Verdict:
    """Return the verdict on a statement, whose programs are run by `run`. Raises `Bound`."""
    held = {statement: True}
    worlds: list[World] = []
    while len(worlds) < MOST_WORLDS:
        world = World(held, run)
        now = _next(world, step)
        if now == held:
            moves = tuple(world.moves for world in [*worlds, world])
            return Verdict(held[statement], world.holds(statement) is True, moves)
        if worlds and now.keys() - held.keys():
            # A statement that comes up here for the first time was not evaluated at the worlds below: start again.
            held, worlds = dict.fromkeys(now, True), []
        else:
            held = now
            worlds.append(world)
    raise Bound(f"no fixed point within {MOST_WORLDS} worlds")


def _next(world: World, step: Step) -> dict[Statement, bool]:
    """Return, for every statement that comes up at this world, whether it holds here and at all worlds below."""
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
