"""Swerve if it is provable that the other does, and else dare.

FairBot in chicken: two of them swerve. But to be as hard on a darer as on a defector costs a crash.

Names: after the modal agents of M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, whose section 6 leaves chicken open
Plays: chicken, one-shot
"""


def act(view):
    return "swerve" if view.proves("them(me) == swerve") else "dare"
