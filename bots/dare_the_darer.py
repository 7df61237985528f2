"""Dare if it is provable that the other does, and else swerve.

By Löb's theorem two of these prove each other daring, and crash.

Names: after the modal agents of M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, whose section 6 leaves chicken open
Plays: chicken, one-shot
"""


def act(view):
    return "dare" if view.proves("them(me) == dare") else "swerve"
