"""Cooperate first, then repeat the opponent's last move.

Names: TitForTat (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


def act(view):
    return view.theirs[-1] if view.theirs else "C"
