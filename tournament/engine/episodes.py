"""Keeps the states of matches, for games that have a state."""

import json
from collections.abc import Iterable, Sequence

from tournament.engine.batch import Batch
from tournament.game import Observation, StateGame, index
from tournament.seeds import Tape


class Episode:
    """The states of one match so far, including the first."""

    def __init__(self, game: StateGame, tape: Tape) -> None:
        self._game = game
        self._tape = tape
        self._states = [game.start(tape)]

    def step(self, joint: Sequence[str]) -> None:
        """Play a joint move, given as codes by seat."""
        moves = tuple(map(index, joint))
        state, _ = self._game.step(self._states[-1], moves, self._tape)
        self._states.append(state)

    def observed(self, round_number: int, seat: int) -> Observation:
        """Return what a seat observes before it moves in a round."""
        return self._game.observe(self._states[round_number], seat)

    @property
    def rounds(self) -> int:
        """How many joint moves have been played."""
        return len(self._states) - 1

    @property
    def over(self) -> bool:
        """Whether there is no further round."""
        return self._game.over(self._states[-1])


class Episodes:
    """The episodes of all matches of a batch; each starts when it is first needed."""

    def __init__(self, game: StateGame, batch: Batch) -> None:
        self._game = game
        self._batch = batch
        self._begun: dict[int, Episode] = {}

    def seen(self, slots: Iterable[int], rounds: Iterable[int]) -> str:
        """Return what these slots observe, each in its round, as the text that follows the joint moves in a line."""
        seen = []
        for slot, number in zip(slots, rounds, strict=True):
            match, seat = divmod(slot, self._batch.seats)
            seen.append(self._episode(match).observed(number, seat))
        return "\t" + json.dumps(seen, separators=(",", ":"))

    def rounds(self, match: int) -> int:
        """Return how many joint moves of a match have been played."""
        return self._episode(match).rounds

    def step(self, match: int, joint: Sequence[str]) -> None:
        """Play a joint move of a match, given as codes by seat."""
        self._episode(match).step(joint)

    def over(self, match: int) -> bool:
        """Whether a match has ended."""
        return self._episode(match).over

    def _episode(self, match: int) -> Episode:
        if match not in self._begun:
            self._begun[match] = Episode(self._game, Tape(self._batch.tape(match, "chance")))
        return self._begun[match]
