"""Cooperate first, then play the opposite of the opponent's last move.

Names: AntiTitForTat (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs:
        return "C"
    return "D" if view.theirs[-1] == "C" else "C"
