"""Keeps the states of matches, for games that have a state."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tournament.engine.batch import Batch
from tournament.game import StateGame
from tournament.seeds import Tape


class Episodes:
    """The states of all matches of a batch, from the first on; a match starts when it is first needed."""

    def __init__(self, game: StateGame, batch: Batch) -> None:
        self._game = game
        self._batch = batch
        self._tapes: dict[int, Tape] = {}
        self._states: dict[int, list[Any]] = {}

    def seen(self, players: Iterable[int], round_number: int) -> str:
        """Return what these players observe before they move in a round, as the end of a line (see `bot.wit`)."""
        seen = []
        for player in players:
            match, seat = divmod(int(player), self._batch.seats)
            seen.append(self._game.observe(self._of(match)[round_number], seat))
        return "\t" + json.dumps(seen, separators=(",", ":"))

    def step(self, match: int, joint: Sequence[int]) -> bool:
        """Play a joint move, given as indices of moves by seat; return whether the match is then over."""
        states = self._of(match)
        state, _ = self._game.step(states[-1], tuple(joint), self._tapes[match])
        states.append(state)
        return self._game.over(state)

    def _of(self, match: int) -> list[Any]:
        """Return the states of a match so far."""
        if match not in self._states:
            tape = self._tapes[match] = Tape(self._batch.tape(match, "chance"))
            self._states[match] = [self._game.start(tape)]
        return self._states[match]
