"""Look first for a proof that the opponent defects, and only then for one that it cooperates.

The order costs it its own copies: that no proof of defection is found is more than PA can prove.

Names: ReverseFairBot (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    if view.proves("them(me) == D"):
        return "D"
    return "C" if view.proves("them(me) == C") else "D"
