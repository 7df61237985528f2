"""Extort twice the opponent's gain over mutual defection.

Names: ZDExtort2 (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""

COOPERATE = {"CC": 8 / 9, "CD": 1 / 2, "DC": 1 / 3, "DD": 0}


def act(view):
    if not view.mine:
        return "C"
    return "C" if view.rng.random() < COOPERATE[view.mine[-1] + view.theirs[-1]] else "D"
