"""Penalty: two best agreements, and a penalty for mixing them up.

Two seats choose at once among "a", "b" and "c", and are paid the same:

              a    b    c
        a    10    0    p
        b     0    2    0
        c     p    0   10         with p <= 0, by default -2

(a, a) and (c, c) are the best, and nothing tells which is meant; (b, b) is the safe equilibrium,
the more tempting the deeper the penalty.

C. Claus and C. Boutilier, "The dynamics of reinforcement learning in cooperative multiagent
systems", AAAI 1998. Played by programs with p = -2 in Y. Lin et al., arXiv:2512.21024, 2025 (PIBR),
where the greatest total welfare is 20.
"""

from tournament.errors import ParameterError
from tournament.game import MatrixGame, check_finite, common_payoff_game

NAME = "penalty"


def game(*, p: float = -2) -> MatrixGame:
    """The game with this penalty. Raises `ParameterError` unless p <= 0."""
    check_finite(NAME, "p", p)
    if p > 0:
        raise ParameterError(NAME, "p", f"is {p:g}, and must not be greater than 0")
    return common_payoff_game(NAME, ("a", "b", "c"), [[10, 0, p], [0, 2, 0], [p, 0, 10]], {"p": p})
