"""Hunt the stag if it is provable that the other does.

FairBot in the stag hunt: two of them hunt together, and nobody leaves one alone with the stag.

Names: after FairBot (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014)
Plays: stag_hunt, one-shot
"""


def act(view):
    return "stag" if view.proves("them(me) == stag") else "hare"
