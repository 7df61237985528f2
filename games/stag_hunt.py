"""Stag hunt: hunting together pays best, hunting alone is safe.

Two seats choose at once to hunt the stag, which takes both, or a hare, which takes one ("stag",
"hare"). A seat is paid, by its own move (row) and the other's (column):

              stag  hare
        stag    4     0       together: reward R;     left alone: sucker's payoff S
        hare    3     3       deserts: temptation T;  both on hares: punishment P

R > T >= P > S. Both (stag, stag) and (hare, hare) are equilibria: the first pays more, and the
second is the safer one wherever T + P > R + S, as by default.

J.-J. Rousseau, Discourse on Inequality, 1755; B. Skyrms, The Stag Hunt and the Evolution of Social
Structure, 2004.
"""

from tournament.errors import ParameterError
from tournament.game import MatrixGame, check_order, symmetric_game

NAME = "stag_hunt"


def game(
    *,
    reward: float = 4,
    temptation: float = 3,
    sucker: float = 0,
    punishment: float = 3,
) -> MatrixGame:
    """The game with these payoffs. Raises `ParameterError` unless R > T >= P > S."""
    check_order(NAME, {"reward": reward, "temptation": temptation})
    check_order(NAME, {"punishment": punishment, "sucker": sucker})
    if punishment > temptation:
        problem = f"is {punishment:g}, and must not be greater than temptation ({temptation:g})"
        raise ParameterError(NAME, "punishment", problem)
    return symmetric_game(
        NAME,
        ("stag", "hare"),
        [[reward, sucker], [temptation, punishment]],
        {
            "reward": reward,
            "temptation": temptation,
            "punishment": punishment,
            "sucker": sucker,
        },
    )
