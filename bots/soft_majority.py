"""Cooperate unless the opponent has defected more often than it has cooperated.

Names: Go By Majority (entered by G. Grisell, in R. Axelrod, "More Effective Choice in the
    Prisoner's Dilemma", Journal of Conflict Resolution 24, 1980), Soft Majority
Plays: prisoners_dilemma
"""


def act(view):
    return "D" if view.theirs.count("D") > view.theirs.count("C") else "C"
