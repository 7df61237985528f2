"""The most that all seats together can be paid in a match."""

import math
from collections.abc import Sequence
from typing import TypeGuard

from tournament.game import Game, MatrixGame, Setting, StateGame
from tournament.library import load_game
from tournament.seeds import Tape, tape_name
from tournament.theory.foraging import MEAN_STEPS, optimal_welfare

FORAGING = "level_based_foraging"
STARTS = 200
LARGEST_GRID = 8
"""On larger grids the best joint play takes too long to find for so many starts."""
PUBLISHED = 0.554
"""The line at the optimum of foraging in the PIBR paper's figure. Its samples are on another account: a welfare of
1 - 0.2 n for all food in n rounds, by which the mean optimum is -0.082; 1 - 0.1 (n - 1) comes near the line, at 0.559.
"""


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
    """The optimum; of foraging its mean over all starts of the paper's setting, or over a sample of other starts."""
    if _as_published(setting):
        cost = setting.game.parameters["step_cost"]
        assert isinstance(cost, float)
        return float(1 - 2 * cost * MEAN_STEPS)
    return optimum_of(setting, [tape_name("optimum", number) for number in range(STARTS)])


def optimum_of(setting: Setting, tapes: Sequence[str]) -> float | None:
    """The optimum of matches whose chance is drawn from these tapes, on average."""
    game = setting.game
    if not _is_foraging(game):
        return best_welfare(setting)
    cost, horizon, size = (game.parameters[name] for name in ("step_cost", "horizon", "size"))
    assert isinstance(cost, int | float) and isinstance(horizon, int) and isinstance(size, int)
    if size > LARGEST_GRID:
        return None
    starts = (game.start(Tape(tape)) for tape in tapes)
    return math.fsum(optimal_welfare(start, cost, horizon) for start in starts) / len(tapes)


def published_optimum(setting: Setting) -> float | None:
    """The line at the optimum in the paper's figure, where it is not `mean_optimum`."""
    return PUBLISHED if _as_published(setting) else None


def _is_foraging(game: Game) -> TypeGuard[StateGame]:
    return isinstance(game, StateGame) and game.name == FORAGING and game.seats == 2


def _as_published(setting: Setting) -> bool:
    """Whether it is foraging in the paper's setting, which is the default."""
    game = setting.game
    return _is_foraging(game) and game.parameters == load_game(FORAGING, {}).parameters
