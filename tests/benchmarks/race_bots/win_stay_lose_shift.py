"""Cooperate first, and then whenever both moved alike in the last round.

Names: WinStayLoseShift (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.mine:
        return "C"
    return "C" if view.mine[-1] == view.theirs[-1] else "D"
