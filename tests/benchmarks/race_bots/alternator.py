"""Cooperate and defect in turn.

Names: Alternator (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "CD"[len(view.mine) % 2]
