"""Swerve if it is provable that the other dares, and else dare.

Two of these crash: neither has proof enough to give way to the other.

Names: after the modal agents of M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, whose section 6 leaves chicken open
Plays: chicken, one-shot
"""


def act(view):
    return "swerve" if view.proves("them(me) == dare") else "dare"
