"""Repeat the opponent's last move, but answer one cooperation in ten with a defection.

A sneak: each of its tricks starts a feud with whoever retaliates, and it came twelfth of fifteen.

Names: Joss (J. Joss, in R. Axelrod, "Effective Choice in the Prisoner's Dilemma", Journal of
    Conflict Resolution 24, 1980), Hard Joss
Plays: prisoners_dilemma
"""


def act(view):
    if not view.theirs:
        return "C"
    return "C" if view.theirs[-1] == "C" and view.rng.random() < 0.9 else "D"
