"""Cooperate until the opponent first defects, then defect for ever.

Names: Grudger (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


class Bot:
    def __init__(self):
        self.move = "C"

    def act(self, view):
        if view.theirs and view.theirs[-1] == "D":
            self.move = "D"
        return self.move
