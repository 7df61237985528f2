"""Repeat the opponent's last move, but forgive one defection in three.

Names: GTFT (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs or view.theirs[-1] == "C":
        return "C"
    return "C" if view.rng.random() < 1 / 3 else "D"
