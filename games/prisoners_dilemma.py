"""Prisoner's dilemma: each is better off defecting, and both would rather that neither did.

Two seats choose at once to cooperate ("C") or to defect ("D"). A seat is paid, by its own move
(row) and the other's (column):

             C   D
        C    3   0        both cooperate: reward R;      exploited: sucker's payoff S
        D    5   1        exploits: temptation T;        both defect: punishment P

T > R > P > S, so D is dominant and (D, D) the only equilibrium; it pays both less than (C, C).
Between programs that read each other's source, cooperation can be an equilibrium of the one-shot
game.

Flood and Dresher 1950 (M. M. Flood, "Some experimental games", Management Science 5, 1958); the
story is A. W. Tucker's. The default payoffs are those of R. Axelrod, The Evolution of Cooperation,
1984.
"""

from tournament.game import MatrixGame, check_order, symmetric_game

NAME = "prisoners_dilemma"


def game(
    *,
    reward: float = 3,
    temptation: float = 5,
    sucker: float = 0,
    punishment: float = 1,
) -> MatrixGame:
    """The game with these payoffs. Raises `ParameterError` unless T > R > P > S."""
    payoffs = {
        "temptation": temptation,
        "reward": reward,
        "punishment": punishment,
        "sucker": sucker,
    }
    check_order(NAME, payoffs)
    return symmetric_game(NAME, ("C", "D"), [[reward, sucker], [temptation, punishment]], payoffs)
