"""Extort twice the opponent's gain over mutual defection.

Names: ZDExtort2 (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.mine:
        return "C"
    if view.theirs[-1] == "C":
        chance = 8 / 9 if view.mine[-1] == "C" else 1 / 3
    else:
        chance = 1 / 2 if view.mine[-1] == "C" else 0
    return "C" if view.rng.random() < chance else "D"
