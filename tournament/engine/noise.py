"""Noise: replaces some moves by other legal moves, at random."""

from tournament.engine.batch import Batch
from tournament.game import code, index
from tournament.seeds import Tape


class Noise:
    """The noise in the matches of a batch.

    For each match it is drawn round by round and seat by seat, so it does not depend on the moves or on their order.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._tapes: dict[int, Tape] = {}
        self._shifts: dict[int, list[list[int]]] = {}

    def disturbed(self, slot: int, round_number: int, move: str) -> str:
        """Return the code of the move that is played when a slot makes `move` in a round."""
        match, seat = divmod(slot, self._batch.seats)
        shifts = self._shifts.setdefault(match, [])
        while len(shifts) <= round_number:
            shifts.append(self._drawn(match))
        count = len(self._batch.facts["moves"][seat])
        return code((index(move) + shifts[round_number][seat]) % count)

    def _drawn(self, match: int) -> list[int]:
        """Return for each seat by how many positions in its list of moves the next move is shifted; 0 is no noise."""
        if match not in self._tapes:
            self._tapes[match] = Tape(self._batch.tape(match, "noise"))
        tape, noise = self._tapes[match], self._batch.repetition.noise
        return [
            1 + int(tape.random() * (len(legal) - 1)) if tape.random() < noise else 0
            for legal in self._batch.facts["moves"]
        ]
