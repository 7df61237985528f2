"""Cooperate first, then repeat the opponent's last move.

The shortest entry to both of Axelrod's tournaments won both: never the first to defect, quick to
answer, quick to forgive, and easy to read. It never earns more than its opponent. One mistake sets
two of them feuding, which contrite_tit_for_tat and generous_tit_for_tat mend.

Names: Tit For Tat (A. Rapoport, in R. Axelrod, "Effective Choice in the Prisoner's Dilemma",
    Journal of Conflict Resolution 24, 1980), Copycat
Plays: prisoners_dilemma
"""


def act(view):
    return view.theirs[-1] if view.theirs else "C"
