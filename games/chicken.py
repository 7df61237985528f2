"""Chicken: whoever swerves loses face, and if nobody does both crash.

Two seats choose at once to swerve or to dare ("swerve", "dare"). A seat is paid, by its own move
(row) and the other's (column):

                swerve  dare
        swerve     6      2       both yield: reward R;   yields: sucker's payoff S
        dare       7      0       wins: temptation T;     crash: punishment P

T > R > S > P. The pure equilibria are (dare, swerve) and (swerve, dare): the seats want different
ones, and need something to break the tie, such as a seat or a shared coin. By default a coin that
recommends (swerve, swerve), (swerve, dare) and (dare, swerve) equally often is a correlated
equilibrium and pays 5 to each, more than the mixed equilibrium's 14/3.

Also hawk-dove and snowdrift. A. Rapoport and A. M. Chammah, "The game of chicken", American
Behavioral Scientist 10, 1966; the default payoffs are those with which the correlated equilibrium
(R. J. Aumann 1974) is usually taught.
"""

from tournament.game import MatrixGame, check_order, symmetric_game

NAME = "chicken"


def game(
    *,
    reward: float = 6,
    temptation: float = 7,
    sucker: float = 2,
    punishment: float = 0,
) -> MatrixGame:
    """The game with these payoffs. Raises `ParameterError` unless T > R > S > P."""
    payoffs = {
        "temptation": temptation,
        "reward": reward,
        "sucker": sucker,
        "punishment": punishment,
    }
    check_order(NAME, payoffs)
    return symmetric_game(
        NAME, ("swerve", "dare"), [[reward, sucker], [temptation, punishment]], payoffs
    )
