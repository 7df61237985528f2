"""Tit for tat that accepts being punished for its own mistakes.

A seat is in good standing until it defects without cause, and again once it cooperates; a
defection by the good against the bad has cause. Only that defection is ever meant. Two copies
recover from a slip of one in two rounds, where tit for tat feuds for ever.

Names: Contrite Tit For Tat (R. Boyd, "Mistakes allow evolutionary stability in the repeated
    prisoner's dilemma game", Journal of Theoretical Biology 136, 1989; J. Wu and R. Axelrod 1995),
    standing (R. Sugden, The Economics of Rights, Co-operation and Welfare, 1986)
Plays: prisoners_dilemma
"""


class Bot:
    def __init__(self):
        self.good = {"me": True, "them": True}

    def act(self, view):
        if view.mine:
            me, them = self.good["me"], self.good["them"]
            self.good["me"] = view.mine[-1] == "C" or (me and not them)
            self.good["them"] = view.theirs[-1] == "C" or (them and not me)
        return "D" if self.good["me"] and not self.good["them"] else "C"
