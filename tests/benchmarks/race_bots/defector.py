"""Defect always.

Names: Defector (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "D"
