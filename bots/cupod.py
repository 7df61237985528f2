"""Cooperate unless it is provable that the opponent defects.

Meant to be kind, and by Löb's theorem the contrary: each of two copies proves that the other
defects. FairBot, who asks for a proof of cooperation, exploits it.

Names: CUPOD (A. Critch, M. Dennis and S. Russell, "Cooperative and uncooperative institution
    designs", arXiv:2208.07006, 2022)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "D" if view.proves("them(me) == D") else "C"
