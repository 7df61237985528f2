"""Cooperate always, with everybody.

The measure of everybody else's manners: whoever defects against it takes what is not defended.

Names: CooperateBot (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014), Cooperator, AllC, unconditional cooperator
Plays: prisoners_dilemma
"""


def act(view):
    return "C"
