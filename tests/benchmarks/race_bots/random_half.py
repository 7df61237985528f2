"""Cooperate with probability one half.

Names: Random (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.rng.random() < 0.5 else "D"
