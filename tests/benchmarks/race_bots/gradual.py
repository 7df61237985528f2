"""Answer the n-th provocation with n defections, then cooperate twice whatever comes.

Names: OriginalGradual (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""


class Bot:
    def __init__(self):
        self.provocations = 0
        self.plan = []

    def act(self, view):
        if not self.plan and view.theirs and view.theirs[-1] == "D":
            self.provocations += 1
            self.plan = ["C", "C"] + ["D"] * self.provocations
        return self.plan.pop() if self.plan else "C"
