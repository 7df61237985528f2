"""FairBot at level 1: cooperate if PA+1 proves that the opponent cooperates with me.

A proof system that also knows of its own consistency trusts a little more than FairBot's: it comes
to terms with those who wait one step, and not with PrudentBot, who cannot be sure that it would
not trust a defector.

Names: FairBot1 (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "C" if view.proves("them(me) == C", level=1) else "D"
