"""Matching pennies: the first seat wants the coins to match, the second wants them to differ.

Two seats each lay down a coin at once, "heads" or "tails", and the loser pays the stake to the
winner (first seat's payoff, second seat's):

                  heads   tails
        heads     1, -1   -1, 1
        tails    -1, 1     1, -1

Zero-sum. The only equilibrium is to toss the coin, and is worth 0. A program whose move can be
foreseen loses to whoever foresees it, so what a bot needs here is a private tape.

J. von Neumann and O. Morgenstern, Theory of Games and Economic Behavior, 1944.
"""

from tournament.game import MatrixGame, check_order, table_game

NAME = "matching_pennies"


def game(*, stake: float = 1) -> MatrixGame:
    """The game for this stake. Raises `ParameterError` unless it is greater than zero."""
    check_order(NAME, {"stake": stake, "zero": 0})
    match, differ = (stake, -stake), (-stake, stake)
    return table_game(
        NAME, ("heads", "tails"), [[match, differ], [differ, match]], {"stake": stake}
    )
