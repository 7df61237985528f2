"""Cooperate twice, defect once, and over again.

Names: CyclerCCD (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "CCD"[len(view.mine) % 3]
