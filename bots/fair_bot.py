"""FairBot: cooperate if it is provable that the opponent cooperates with me.

Against itself, each proof rests on the other, and Löb's theorem makes both go through: they
cooperate without having the same source, and nobody exploits it.

Names: FairBot (Slepnev; Barasz et al. 2014, algorithm 4), DUPOC (Critch, Dennis and Russell 2022)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.proves("them(me) == C") else "D"
