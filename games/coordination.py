"""Coordination: both are paid if they choose alike, and some choices pay more than others.

Two seats choose at once among "a", "b" and "c", and are paid the same:

             a   b   c
        a    3   0   0
        b    0   2   0
        c    0   0   1

Every agreement is an equilibrium, the first of them the best for both.

After the "vanilla coordination" game of Y. Lin et al., "Policy-Conditioned Policies for Multi-Agent
Task Solving", arXiv:2512.21024, 2025 (PIBR). The diagonal 3, 2, 1 is an ASSUMPTION: of that game
only the optimum of the total welfare, 6.0, is published, which is a payoff of 3 for each of two
seats. That there are three moves, and what the other agreements pay, is ours.
"""

from tournament.game import MatrixGame, check_order, common_payoff_game

NAME = "coordination"


def game(*, best: float = 3, second: float = 2, third: float = 1) -> MatrixGame:
    """The game with these payoffs. Raises `ParameterError` unless best > second > third > 0."""
    payoffs = {"best": best, "second": second, "third": third}
    check_order(NAME, payoffs | {"zero": 0})
    return common_payoff_game(
        NAME, ("a", "b", "c"), [[best, 0, 0], [0, second, 0], [0, 0, third]], payoffs
    )
