"""Cooperate unless the opponent has defected more often than it has cooperated.

Names: GoByMajority (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


class Bot:
    def __init__(self):
        self.lead = 0

    def act(self, view):
        if view.theirs:
            self.lead += 1 if view.theirs[-1] == "C" else -1
        return "C" if self.lead >= 0 else "D"
