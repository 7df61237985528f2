"""Climbing: the best agreement is guarded by the worst mistakes.

Two seats choose at once among "a", "b" and "c", and are paid the same, by the first seat's move
(row) and the second's (column):

              a     b    c
        a    11   -30    0
        b   -30     7    6
        c     0     0    5

(a, a) is the best, but whoever leans towards it risks -30. (b, b) is the other equilibrium.
Learners that try moves at random start at (c, c), climb to (b, b) and seldom get further.

C. Claus and C. Boutilier, "The dynamics of reinforcement learning in cooperative multiagent
systems", AAAI 1998. Played by programs in Y. Lin et al., arXiv:2512.21024, 2025 (PIBR), where the
greatest total welfare is 22.
"""

from tournament.game import MatrixGame, common_payoff_game


def game() -> MatrixGame:
    """The game; it has no parameters."""
    return common_payoff_game(
        "climbing", ("a", "b", "c"), [[11, -30, 0], [-30, 7, 6], [0, 0, 5]], {}
    )
