"""Cooperate if PA+1 proves that the opponent cooperates with me, and PA does not.

It takes nothing that is offered freely: it exploits cooperators, and cooperates with its copies.

Names: HobsonBot (D. Hobson, "Yet more modal combat", LessWrong 2021)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    if view.proves("them(me) == C"):
        return "D"
    return "C" if view.proves("them(me) == C", level=1) else "D"
