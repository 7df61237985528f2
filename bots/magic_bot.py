"""Cooperate if PA+1 proves that the opponent cooperates whenever I provably do.

Against the agents that came with it, it plays as FairBot1.

Names: MagicBot (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    magic = view.proves("proves(me(them) == C) -> them(me) == C", level=1)
    return "C" if magic else "D"
