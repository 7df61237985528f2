"""Cooperate if it is provable that the opponent cooperates if I do.

It asks for less than FairBot, cooperates with the same, and exploits CUPOD as FairBot does.

Names: CIMCIC, "cooperate if my cooperation implies cooperation" (A. Critch, M. Dennis and
    S. Russell, "Cooperative and uncooperative institution designs", arXiv:2208.07006, 2022)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "C" if view.proves("me(them) == C -> them(me) == C") else "D"
