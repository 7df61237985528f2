"""Answer the n-th provocation with n defections, then cooperate twice whatever comes.

Names: OriginalGradual (Axelrod-Python 4.13.1)
Plays: prisoners_dilemma
"""

provocations = 0
plan = []


def act(view):
    global provocations, plan
    if not plan and view.theirs and view.theirs[-1] == "D":
        provocations += 1
        plan = ["C", "C"] + ["D"] * provocations
    return plan.pop() if plan else "C"
