"""Defect only after two defections in a row.

Names: TitFor2Tats (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "D" if view.theirs[-2:] == ["D", "D"] else "C"
