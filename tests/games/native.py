"""Plays bots of the library in games with a state, in this process. The bots may not use `simulate` or `proves`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tournament.game import Move, Payoffs, State, StateGame
from tournament.seeds import Tape

BOTS = Path(__file__).parents[2] / "bots"

Act = Callable[[SimpleNamespace], Move]


class Table:
    """A match of these bots, with its states and the payoffs of each round."""

    def __init__(self, game: StateGame, bots: Sequence[str], tape: Tape) -> None:
        self.game = game
        self.acts = [_load(bot) for bot in bots]
        self.views = [
            SimpleNamespace(
                game=SimpleNamespace(seats=game.seats, parameters=game.parameters),
                seat=seat,
                legal=game.moves[seat],
                rng=tape.fork(f"private/{seat}"),
                observation=None,
            )
            for seat in range(game.seats)
        ]
        self.tape = tape
        self.states: list[State] = [game.start(tape)]
        self.paid: list[Payoffs] = []

    def moves(self) -> list[Move]:
        """Return the move of every seat in the present state."""
        for view in self.views:
            view.observation = self.game.observe(self.states[-1], view.seat)
        return [act(view) for act, view in zip(self.acts, self.views, strict=True)]

    def play(self) -> "Table":
        """Play the match to its end and return it."""
        while not self.game.over(self.states[-1]):
            joint = tuple(
                legal.index(move) for legal, move in zip(self.game.moves, self.moves(), strict=True)
            )
            state, paid = self.game.step(self.states[-1], joint, self.tape)
            self.states.append(state)
            self.paid.append(paid)
        return self

    @property
    def totals(self) -> list[float]:
        """Return the total payoff of every seat."""
        return [sum(seat) for seat in zip(*self.paid, strict=True)]


def _load(bot: str) -> Act:
    namespace: dict[str, Any] = {}
    source = (BOTS / f"{bot}.py").read_text(encoding="utf-8")
    exec(compile(source, f"bots/{bot}.py", "exec"), namespace)
    act: Act = namespace["Bot"]().act if "Bot" in namespace else namespace["act"]
    return act
