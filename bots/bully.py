"""Defect first, then play the opposite of the opponent's last move.

It presses on whoever gives way and gives way to whoever presses back.

Names: Bully, Reverse Tit For Tat (J. H. Nachbar, "Evolution in the finitely repeated prisoner's
    dilemma", Journal of Economic Behavior and Organization 19, 1992)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.theirs and view.theirs[-1] == "D" else "D"
