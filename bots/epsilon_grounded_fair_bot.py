"""Cooperate with a small probability, and else do what the opponent does when it is simulated.

Two of a kind simulate each other until one of them draws the small number, and then all that wait
copy its cooperation: they halt, and cooperate. FairBot without proofs: against a defector it
defects but for the small probability, which has to be small enough for that to be worth nobody's
while.

Names: epsilon-grounded FairBot (C. Oesterheld, "Robust program equilibrium", Theory and Decision
    86, 2019)
Plays: prisoners_dilemma, one-shot
"""

EPSILON = 0.05


def act(view):
    if view.rng.random() < EPSILON:
        return "C"
    return "C" if view.simulate() == "C" else "D"
