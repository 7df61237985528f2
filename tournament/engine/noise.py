"""Noise: moves that come out as others than were made."""

from tournament.engine.batch import Batch
from tournament.game import code, index
from tournament.seeds import Tape


class Noise:
    """The noise of a batch. A match's is drawn round by round and seat by seat, whatever is moved and whenever."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._tapes: dict[int, Tape] = {}
        self._shifts: dict[int, list[list[int]]] = {}

    def disturbed(self, slot: int, round_number: int, move: str) -> str:
        """The code of the move that comes of one."""
        match, seat = divmod(slot, self._batch.seats)
        shifts = self._shifts.setdefault(match, [])
        while len(shifts) <= round_number:
            shifts.append(self._drawn(match))
        count = len(self._batch.facts["moves"][seat])
        return code((index(move) + shifts[round_number][seat]) % count)

    def _drawn(self, match: int) -> list[int]:
        """For each seat, by how many moves its next one is off."""
        if match not in self._tapes:
            self._tapes[match] = Tape(self._batch.tape(match, "noise"))
        tape, noise = self._tapes[match], self._batch.repetition.noise
        return [
            1 + int(tape.random() * (len(legal) - 1)) if tape.random() < noise else 0
            for legal in self._batch.facts["moves"]
        ]
