"""Hunt the stag with a small probability, and else what the other hunts when it is simulated.

Names: after the epsilon-grounded FairBot (C. Oesterheld, "Robust program equilibrium", Theory and
    Decision 86, 2019)
Plays: stag_hunt, one-shot
"""

EPSILON = 0.05


def act(view):
    if view.rng.random() < EPSILON:
        return "stag"
    return "stag" if view.simulate() == "stag" else "hare"
