"""Answer the first provocation with one defection, the second with two, and so on; then make peace.

After each punishment it cooperates twice whatever comes, to let the opponent calm down. A
provocation is a defection in a round that was neither punishment nor peace.

Names: Gradual (B. Beaufils, J.-P. Delahaye and P. Mathieu, "Our Meeting with Gradual: A Good
    Strategy for the Iterated Prisoner's Dilemma", Artificial Life V, 1997)
Plays: prisoners_dilemma
"""


class Bot:
    def __init__(self):
        self.provocations = 0
        self.plan = []

    def act(self, view):
        if not self.plan and view.theirs and view.theirs[-1] == "D":
            self.provocations += 1
            self.plan = ["D"] * self.provocations + ["C", "C"]
        return self.plan.pop(0) if self.plan else "C"
