"""The moves of a batch by round: what a round brings stands together, whoever asks for it."""

from collections.abc import Iterable

UNMADE = " "


class Board:
    """Moves as codes by place, in `rounds`."""

    def __init__(self, places: int) -> None:
        self._unmade = UNMADE * places
        self.rounds: list[str] = []

    def put(self, number: int, place: int, made: Iterable[str]) -> None:
        """Put down what slots at places from that one on have made, in a round and those after it."""
        for codes in made:
            if number == len(self.rounds):
                self.rounds.append(self._unmade)
            before = self.rounds[number]
            self.rounds[number] = before[:place] + codes + before[place + len(codes) :]
            number += 1

    def columns(self, done: Iterable[int]) -> list[str]:
        """The moves of every place in the first so many rounds."""
        moves, places = "".join(self.rounds), len(self._unmade)
        return [moves[place::places][:count] for place, count in enumerate(done)]
