"""Defect first, then repeat the opponent's last move.

Against tit for tat both take turns at being the sucker for ever.

Names: Suspicious Tit For Tat (R. Boyd and J. P. Lorberbaum, "No pure strategy is evolutionarily
    stable in the repeated Prisoner's Dilemma game", Nature 327, 1987), Mistrust
Plays: prisoners_dilemma
"""


def act(view):
    return view.theirs[-1] if view.theirs else "D"
