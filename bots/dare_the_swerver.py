"""Dare if it is provable that the other swerves, and else swerve.

Two of these swerve. Whoever proves more dares against one who proves less.

Names: after the modal agents of M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, whose section 6 leaves chicken open
Plays: chicken, one-shot
"""


def act(view):
    return "dare" if view.proves("them(me) == swerve") else "swerve"
