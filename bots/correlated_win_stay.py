"""Win-stay, lose-shift within one round, on simulations that end when the public coin says so.

The round before is both programs on the rest of the tape: cooperate if they did the same in it.

Names: correlated epsilon-grounded pi-Bot for win-stay, lose-shift (E. Cooper, C. Oesterheld and
    V. Conitzer, "Characterising simulation-based program equilibria", arXiv:2412.14570, 2024)
Plays: prisoners_dilemma, one-shot
"""

EPSILON = 0.1


def act(view):
    if view.shared.random() < EPSILON:
        return "C"
    mine, theirs = (view.simulate(each, shared=view.shared) for each in (view.me, view.them))
    return "C" if mine == theirs else "D"
