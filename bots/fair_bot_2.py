"""FairBot at level 2: cooperate if PA+2 proves that the opponent cooperates with me.

Every level more agrees with those who wait one step longer, and loses those who search lower.

Names: FairBot2 (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "C" if view.proves("them(me) == C", level=2) else "D"
