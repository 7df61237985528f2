"""Tit for tat, played within one round against simulations that end when the public coin says so.

All programs read one tape. At a small number the repeated game begins, with cooperation; before
it, both are simulated on the rest of the same tape, which is the round before. So everybody comes
to an end at the same place, and what is good in the repeated game is good here.

Names: correlated epsilon-grounded pi-Bot for tit for tat (E. Cooper, C. Oesterheld and V. Conitzer,
    "Characterising simulation-based program equilibria", arXiv:2412.14570, 2024)
Plays: prisoners_dilemma, one-shot
"""

EPSILON = 0.1


def act(view):
    if view.shared.random() < EPSILON:
        return "C"
    return "C" if view.simulate(shared=view.shared) == "C" else "D"
