"""Defect four times in five, at random: cooperate with probability 0.19.

It won the first open tournament of programs that read each other's source, where cleverer entries
ran out of time or crashed on one another: a warning that few entrants and much noise crown chance.

Names: the winner among 21 entries to A. Mennen's tournament (LessWrong 2013)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.rng.random() < 0.19 else "D"
