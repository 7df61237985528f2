"""States of matches, for games that are played on one."""

import json
from collections.abc import Iterable, Sequence

from tournament.engine.batch import Batch
from tournament.game import Observation, StateGame, index
from tournament.seeds import Tape


class Episode:
    """A match's states so far, the first included."""

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
        """What a seat saw before it moved in a round."""
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
    """The episodes of a batch's matches."""

    def __init__(self, game: StateGame, batch: Batch) -> None:
        self._game = game
        self._batch = batch
        self._begun: dict[int, Episode] = {}

    def seen(self, slots: Iterable[int], rounds: Iterable[int]) -> str:
        """What these slots observe in these rounds, as it goes behind the joint moves of a line."""
        seen = []
        for slot, number in zip(slots, rounds, strict=True):
            match, seat = divmod(slot, self._batch.seats)
            seen.append(self._episode(match).observed(number, seat))
        return "\t" + json.dumps(seen, separators=(",", ":"))

    def rounds(self, match: int) -> int:
        """How many joint moves of a match have been played."""
        return self._episode(match).rounds

    def step(self, match: int, joint: Sequence[str]) -> None:
        """Play a match's joint move."""
        self._episode(match).step(joint)

    def over(self, match: int) -> bool:
        """Whether a match has come to its end."""
        return self._episode(match).over

    def _episode(self, match: int) -> Episode:
        if match not in self._begun:
            self._begun[match] = Episode(self._game, Tape(self._batch.tape(match, "chance")))
        return self._begun[match]
