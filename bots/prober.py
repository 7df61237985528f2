"""Defect, cooperate, cooperate; then exploit whoever bore that kindly, and be tit for tat else.

Names: Prober (J. Li, P. Hingston and G. Kendall, "Engineering Design of Strategies for Winning
    Iterated Prisoner's Dilemma Competitions", IEEE Transactions on Computational Intelligence and
    AI in Games 3, 2011)
Plays: prisoners_dilemma
"""


def act(view):
    if len(view.mine) < 3:
        return "DCC"[len(view.mine)]
    return "D" if view.theirs[1:3] == ["C", "C"] else view.theirs[-1]
