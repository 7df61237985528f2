"""The matches of a batch while they are played: the moves so far, as arrays, and the faults."""

import codecs
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tournament.engine.batch import Batch
from tournament.engine.episodes import Episodes
from tournament.engine.group import Group, Players
from tournament.engine.noise import shifts
from tournament.game import FIRST_CODE, StateGame
from tournament.match import Fault

CODES = codecs.lookup("utf-16-le").name
"""The encoding in which the codes of moves are the numbers of an array: two bytes for every character.

It is looked up here because a locked-down worker cannot import it."""
Codes = npt.NDArray[np.uint16]


class Matches:
    """The state of the matches of a batch, which all play the same round.

    `made` and `shown` have the codes of the moves as arrays of shape (rounds, players): as programs made them, and as
    everybody sees them, after noise. They are one array if there is no noise. `round` is the present round.
    """

    def __init__(self, batch: Batch, game: StateGame | None) -> None:
        count, seats = len(batch.matches), batch.seats
        self._batch = batch
        self._lasts = np.array(batch.horizons)
        """How many rounds count, by match."""
        self._over = self._lasts <= 0
        self._shifts = shifts(batch) if batch.repetition.noise else None
        self._legal = np.array([len(moves) for moves in batch.facts["moves"]] * count)
        self._episodes = Episodes(game, batch) if game else None
        self.foreseen = self._shifts is None and self._episodes is None
        """Whether the programs alone decide what they are shown: there is neither noise nor a game with a state."""
        self.round = 0
        self.faults: dict[int, Fault] = {}
        self.made: Codes = np.zeros((max(batch.horizons, default=0), count * seats), np.uint16)
        self.shown: Codes = self.made if self._shifts is None else self.made.copy()

    def line(self, group: Group, number: int) -> str:
        """Return what a group is shown before it moves in a round (see `bot.wit`)."""
        text = _text(self.shown[number - 1][group.seen]) if number else ""
        return text + self._episodes.seen(group.players, number) if self._episodes else text

    def moves(self, group: Group, number: int) -> str:
        """Return the codes of the moves that a group made in a round."""
        return _text(self.made[number][group.players])

    def add(self, players: Players, codes: str, faults: Mapping[int, Sequence[str]]) -> None:
        """Add the moves that players make in the present round, and their faults by position."""
        self.made[self.round, players] = np.frombuffer(codes.encode(CODES), np.uint16)
        for position, report in faults.items():
            self.fault(int(players[position]), *report)

    def fault(
        self, player: int, kind: str, message: str, traceback: str = "", output: str = ""
    ) -> None:
        """Record that a player broke a rule in the present round, which then does not count and ends its match.

        Nothing is recorded if the match was over before.
        """
        match, seat = divmod(player, self._batch.seats)
        if self._over[match]:
            return
        self.faults[player] = Fault(seat, kind, self.round, message, traceback, output)
        self._lasts[match] = self.round

    def end_round(self) -> bool:
        """Apply noise to the moves of the round, change the states of the game, and go on to the next round.

        Return whether any match has ended with this round.
        """
        if self._shifts is not None:
            moves = self.made[self.round] - FIRST_CODE + self._shifts[self.round]
            self.shown[self.round] = moves % self._legal + FIRST_CODE
        if self._episodes:
            for match in np.flatnonzero(self._lasts > self.round).tolist():
                self._step(match, self._episodes)
        self.round += 1
        before, self._over = self._over, self._lasts <= self.round
        return bool((self._over != before).any())

    def _step(self, match: int, episodes: Episodes) -> None:
        """Advance the state of a match by the joint move of the present round."""
        start = match * self._batch.seats
        joint = self.shown[self.round, start : start + self._batch.seats] - FIRST_CODE
        if episodes.step(match, joint.tolist()):
            self._lasts[match] = self.round + 1

    def over(self, group: Group) -> list[int]:
        """Return the positions of the players of a group whose matches are over."""
        positions: list[int] = np.flatnonzero(self._over[self._of(group)]).tolist()
        return positions

    def left(self, group: Group) -> int:
        """Return how many rounds are left, with the present one, in the longest match of a group."""
        return int(self._lasts[self._of(group)].max()) - self.round

    def _of(self, group: Group) -> npt.NDArray[np.int64]:
        """Return the matches of the players of a group."""
        return group.players // self._batch.seats

    def columns(self, moves: Codes) -> list[str]:
        """Return `made` or `shown` as a string for each player, with the rounds of its match that count."""
        lasts = np.repeat(self._lasts, self._batch.seats).tolist()
        by_player = np.ascontiguousarray(moves.T)
        return [_text(codes[:last]) for codes, last in zip(by_player, lasts, strict=True)]


def _text(codes: Codes) -> str:
    return codes.tobytes().decode(CODES)
