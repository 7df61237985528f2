"""Cooperate unless the opponent has defected more often than it has cooperated.

Names: GoByMajority (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""

lead = 0


def act(view):
    global lead
    if view.theirs:
        lead += 1 if view.theirs[-1] == "C" else -1
    return "C" if lead >= 0 else "D"
