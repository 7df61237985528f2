"""Rock, paper, scissors: every move beats one of the others and loses to the third.

Two seats show a hand at once; paper beats rock, scissors beat paper, rock beats scissors, and the
loser pays the stake to the winner. A seat is paid, by its own move (row) and the other's (column):

                    rock  paper  scissors
        rock          0    -1       1
        paper         1     0      -1
        scissors     -1     1       0

Zero-sum. The only equilibrium is to play each move a third of the time, and is worth 0; every
program that does anything else can be beaten by one that reads it.

J. von Neumann and O. Morgenstern, Theory of Games and Economic Behavior, 1944; as a contest of
programs: D. Egnor, "Iocaine Powder", ICGA Journal 23, 2000 (winner of the First International
RoShamBo Programming Competition).
"""

from tournament.game import MatrixGame, check_order, symmetric_game

NAME = "rock_paper_scissors"


def game(*, stake: float = 1) -> MatrixGame:
    """The game for this stake. Raises `ParameterError` unless it is greater than zero."""
    check_order(NAME, {"stake": stake, "zero": 0})
    return symmetric_game(
        NAME,
        ("rock", "paper", "scissors"),
        [[0, -stake, stake], [stake, 0, -stake], [-stake, stake, 0]],
        {"stake": stake},
    )
