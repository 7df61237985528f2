"""Cooperate until the opponent first defects, then defect for ever.

The threat behind the folk theorem: nothing supports cooperation with less patience, and nothing
bears noise worse.

Names: Grim Trigger (J. W. Friedman, "A Non-cooperative Equilibrium for Supergames", Review of
    Economic Studies 38, 1971), Friedman, Grudger, Spite
Plays: prisoners_dilemma
"""


def act(view):
    return "D" if "D" in view.theirs else "C"
