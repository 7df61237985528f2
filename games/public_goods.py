"""Public goods: what is given grows and is shared by all, and who gives nothing is shared with too.

Any number of seats (2 to 1,000) have an endowment each, and put any whole part of it into a common
pot at once: the moves are the numbers 0, 1, ..., endowment. The pot is multiplied and shared out
equally:

        payoff = endowment - own contribution + multiplier * sum of contributions / seats

With 1 < multiplier < seats everybody is best off if all give everything, and each is best off
giving nothing: a prisoner's dilemma for many. By default three free riders are paid 10 each, three
who give everything 16, and who gives everything alone 5.33.

J. O. Ledyard, "Public goods: a survey of experimental research", 1995. E. Fehr and S. Gächter,
"Cooperation and punishment in public goods experiments", American Economic Review 90, 2000, have
seats=4, endowment=20 and the multiplier used here by default.
"""

from tournament.game import MOST_MOVES, Joint, MatrixGame, Payoffs, check_order, check_whole

NAME = "public_goods"
MOST_SEATS = 1000


def game(*, seats: int = 3, endowment: int = 10, multiplier: float = 1.6) -> MatrixGame:
    """The game for so many seats. Raises `ParameterError` unless 1 < multiplier < seats."""
    check_whole(NAME, "seats", seats, 2, MOST_SEATS)
    check_whole(NAME, "endowment", endowment, 1, MOST_MOVES - 1)
    check_order(NAME, {"seats": seats, "multiplier": multiplier, "one": 1})

    def payoff(joint: Joint) -> Payoffs:
        # The index of a move is the contribution itself.
        share = multiplier * sum(joint) / seats
        return tuple(endowment - own + share for own in joint)

    alone = (endowment,) + (0,) * (seats - 1)
    return MatrixGame(
        name=NAME,
        moves=(tuple(range(endowment + 1)),) * seats,
        payoff=payoff,
        worst=(payoff(alone)[0],) * seats,
        parameters={"seats": seats, "endowment": endowment, "multiplier": multiplier},
    )
