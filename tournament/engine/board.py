"""A table of the moves of a batch by round, which keeps the moves of all slots in a round in one string."""

from collections.abc import Iterable

UNMADE = " "
"""Stands for a move that has not been made yet."""


class Board:
    """A table of moves: `rounds` has one string for each round, with one code at each position."""

    def __init__(self, places: int) -> None:
        self._unmade = UNMADE * places
        self.rounds: list[str] = []

    def put(self, number: int, place: int, made: Iterable[str]) -> None:
        """Record moves in round `number` and the following ones: in each, the codes for positions from `place` on."""
        for codes in made:
            if number == len(self.rounds):
                self.rounds.append(self._unmade)
            before = self.rounds[number]
            self.rounds[number] = before[:place] + codes + before[place + len(codes) :]
            number += 1

    def columns(self, done: Iterable[int]) -> list[str]:
        """Return the moves at each position as a string; `done` says how many rounds to take for each position."""
        moves, places = "".join(self.rounds), len(self._unmade)
        return [moves[place::places][:count] for place, count in enumerate(done)]
