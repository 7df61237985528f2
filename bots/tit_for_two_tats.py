"""Cooperate unless the opponent has defected twice in a row.

It would have won Axelrod's first tournament. Entered for the second it came only 24th, among
opponents that took every other round from whoever let them.

Names: Tit For Two Tats (R. Axelrod, "Effective Choice in the Prisoner's Dilemma", Journal of
    Conflict Resolution 24, 1980; entered by J. Maynard Smith, ibid., "More Effective Choice")
Plays: prisoners_dilemma
"""


def act(view):
    return "D" if view.theirs[-2:] == ["D", "D"] else "C"
