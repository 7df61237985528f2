"""Computes the optimum of a setting: the highest total payoff that all seats together can get in a match."""

import math
from collections.abc import Sequence
from typing import TypeGuard

from tournament.game import Game, MatrixGame, Setting, StateGame
from tournament.library import load_game
from tournament.seeds import Tape, tape_name
from tournament.theory.foraging import MEAN_STEPS, optimal_welfare

FORAGING = "level_based_foraging"
STARTS = 200
"""How many starts are drawn to estimate the mean optimum of foraging."""
LARGEST_GRID = 8
"""The largest side of a foraging grid in cells. On larger grids the best joint play takes too long to compute."""
PUBLISHED = 0.554
"""The height of the line that marks the optimum of foraging in the figure of the PIBR paper.

The samples in that figure are computed in another way than the line: gathering all food in n rounds gives a welfare of
1 - 0.2 n, so the mean optimum would be -0.082. The formula 1 - 0.1 (n - 1) comes close to the line, with 0.559.
"""


def best_welfare(setting: Setting) -> float | None:
    """Return the optimum of a matrix game from its table of payoffs.

    Return None for games without such a table, for matches with noise, and where the number of rounds is not fixed.
    """
    game, repetition = setting.game, setting.repetition
    if not isinstance(game, MatrixGame) or game.cells is None or repetition.noise:
        return None
    if repetition.rounds is None:
        return None
    rounds = math.fsum(repetition.discount**r for r in range(repetition.rounds))
    return max(map(sum, game.cells.values())) * rounds


def mean_optimum(setting: Setting) -> float | None:
    """Return the mean optimum of a match, or None where it is not known.

    For foraging it is the exact mean over all starts in the paper's setting, and a mean over sampled starts otherwise.
    """
    if _as_published(setting):
        cost = setting.game.parameters["step_cost"]
        assert isinstance(cost, float)
        return float(1 - 2 * cost * MEAN_STEPS)
    return optimum_of(setting, [tape_name("optimum", number) for number in range(STARTS)])


def optimum_of(setting: Setting, tapes: Sequence[str]) -> float | None:
    """Return the mean optimum of the matches whose chance events are drawn from these tapes, or None if not known."""
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
    """Return the optimum as drawn in the paper's figure, which differs from `mean_optimum`; None in other settings."""
    return PUBLISHED if _as_published(setting) else None


def _is_foraging(game: Game) -> TypeGuard[StateGame]:
    return isinstance(game, StateGame) and game.name == FORAGING and game.seats == 2


def _as_published(setting: Setting) -> bool:
    """Whether the game is foraging with the paper's parameters, which are the default."""
    game = setting.game
    return _is_foraging(game) and game.parameters == load_game(FORAGING, {}).parameters
