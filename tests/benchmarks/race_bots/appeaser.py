"""Cooperate first, and change the move whenever the opponent defects.

Names: Appeaser (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs:
        return "C"
    if view.theirs[-1] == "C":
        return view.mine[-1]
    return "D" if view.mine[-1] == "C" else "C"
