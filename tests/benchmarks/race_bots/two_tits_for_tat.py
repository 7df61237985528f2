"""Answer every defection with two.

Names: TwoTitsForTat (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return "D" if "D" in view.theirs[-2:] else "C"
