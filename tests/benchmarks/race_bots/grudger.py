"""Cooperate until the opponent first defects, then defect for ever.

Names: Grudger (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""

angry = False


def act(view):
    global angry
    if view.theirs and view.theirs[-1] == "D":
        angry = True
    return "D" if angry else "C"
