"""Defect twice, cooperate once, and over again.

Names: CyclerDDC (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "DDC"[len(view.mine) % 3]
