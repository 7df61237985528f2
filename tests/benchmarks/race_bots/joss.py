"""Repeat the opponent's last move, but answer one cooperation in ten with a defection.

Names: FirstByJoss (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs:
        return "C"
    return "C" if view.theirs[-1] == "C" and view.rng.random() < 0.9 else "D"
