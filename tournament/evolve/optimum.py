"""The most that all seats together can be paid in a match."""

import math

from tournament.game import MatrixGame, Setting, StateGame
from tournament.seeds import Tape, tape_name
from tournament.theory.foraging import optimal_welfare

STARTS = 200
LARGEST_GRID = 8
"""On larger grids the best joint play takes too long to find for so many starts."""


def best_welfare(setting: Setting) -> float | None:
    """The optimum, where it can be listed."""
    game, repetition = setting.game, setting.repetition
    if not isinstance(game, MatrixGame) or game.cells is None or repetition.noise:
        return None
    if repetition.rounds is None:
        return None
    rounds = math.fsum(repetition.discount**r for r in range(repetition.rounds))
    return max(map(sum, game.cells.values())) * rounds


def mean_optimum(setting: Setting) -> float | None:
    """The optimum; of foraging, its mean over a sample of starts, whatever is seen from each."""
    game = setting.game
    if isinstance(game, StateGame) and game.name == "level_based_foraging" and game.seats == 2:
        return _foraging(game)
    return best_welfare(setting)


def _foraging(game: StateGame) -> float | None:
    cost, horizon, size = (game.parameters[name] for name in ("step_cost", "horizon", "size"))
    assert isinstance(cost, int | float) and isinstance(horizon, int) and isinstance(size, int)
    if size > LARGEST_GRID:
        return None
    starts = (game.start(Tape(tape_name("optimum", number))) for number in range(STARTS))
    return math.fsum(optimal_welfare(start, cost, horizon) for start in starts) / STARTS
