"""Noise: replaces some moves by other legal moves, at random."""

import numpy as np
import numpy.typing as npt

from tournament.engine.batch import Batch
from tournament.seeds import Tape


def shifts(batch: Batch) -> npt.NDArray[np.uint16]:
    """Return by how many positions in its seat's list of moves each move is shifted; 0 is no noise.

    The shape is (rounds, players). A match's noise is drawn round by round and seat by seat from a tape of its own, so
    it does not depend on the moves.
    """
    count, seats = len(batch.matches), batch.seats
    drawn = np.zeros((max(batch.horizons, default=0), count, seats), np.uint16)
    for match, horizon in enumerate(batch.horizons):
        drawn[:horizon, match] = _drawn(batch, match, horizon)
    return drawn.reshape(-1, count * seats)


def _drawn(batch: Batch, match: int, rounds: int) -> list[list[int]]:
    """Return the shifts of a match, by round and seat."""
    random, noise = Tape(batch.tape(match, "noise")).random, batch.repetition.noise
    others = [len(legal) - 1 for legal in batch.facts["moves"]]
    return [
        [1 + int(random() * count) if random() < noise else 0 for count in others]
        for _ in range(rounds)
    ]
