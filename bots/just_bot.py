"""Cooperate if it is provable that the opponent cooperates with FairBot.

It treats others as FairBot would be treated. Modal agents are what they do, so against them it is
FairBot; a program that knows FairBot by its source can exploit it.

Names: JustBot (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma", arXiv:1401.5577,
    2014, algorithm 6), MimicFairBot (P. LaVictoire, "An Introduction to Löb's Theorem in MIRI
    Research", 2015)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "C" if view.proves("them(fair_bot) == C") else "D"
