"""Defect always, with everybody.

The dominant strategy of the one-shot game and its only equilibrium: the outcome that bots which
read each other's source set out to improve on.

Names: DefectBot (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014), Defector, AllD, unconditional defector
Plays: prisoners_dilemma
"""


def act(view):
    return "D"
