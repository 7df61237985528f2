"""Defect first, then play the opposite of the opponent's last move.

Names: Bully (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs:
        return "D"
    return "D" if view.theirs[-1] == "C" else "C"
