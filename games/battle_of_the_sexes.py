"""Battle of the sexes: both want to meet, and each at a different place.

Two seats choose at once where to go this evening, "opera" or "football". The first seat would
rather meet at the opera, the second at the football; to miss each other is worst for both (first
seat's payoff, second seat's):

                    opera   football
        opera       2, 1     0, 0
        football    0, 0     1, 2

Both meetings are equilibria, and neither is fair; the fair mixed equilibrium pays each seat only
2/3, less than the worse meeting. A shared coin is fair and pays 3/2. The seats are not alike here:
which meeting is the better one depends on a bot's seat.

R. D. Luce and H. Raiffa, Games and Decisions, 1957, chapter 5; with these payoffs as "Bach or
Stravinsky" in M. J. Osborne and A. Rubinstein, A Course in Game Theory, 1994.
"""

from tournament.game import MatrixGame, check_order, table_game

NAME = "battle_of_the_sexes"


def game(*, best: float = 2, second: float = 1, miss: float = 0) -> MatrixGame:
    """The game with these payoffs. Raises `ParameterError` unless best > second > miss."""
    payoffs = {"best": best, "second": second, "miss": miss}
    check_order(NAME, payoffs)
    missed = (miss, miss)
    return table_game(
        NAME, ("opera", "football"), [[(best, second), missed], [missed, (second, best)]], payoffs
    )
