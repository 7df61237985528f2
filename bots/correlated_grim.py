"""Grim trigger, played within one round against simulations that end when the public coin says so.

The round before is both programs on the rest of the tape. Grim itself cooperates there only if
nobody has defected before, so that one round tells of all. Without a public coin, simulating two
programs at a time would not come to an end.

Names: correlated epsilon-grounded pi-Bot for the grim trigger (E. Cooper, C. Oesterheld and
    V. Conitzer, "Characterising simulation-based program equilibria", arXiv:2412.14570, 2024)
Plays: prisoners_dilemma, one-shot
"""

EPSILON = 0.1


def act(view):
    if view.shared.random() < EPSILON:
        return "C"
    before = [view.simulate(program, shared=view.shared) for program in (view.me, view.them)]
    return "C" if before == ["C", "C"] else "D"
