"""Cooperate with whoever provably cooperates with a cooperator.

Nice to the nice: it asks how the weak are treated, not how it will be treated itself, and whoever
knows that can be nice to cooperators alone.

Names: NiceBot (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "C" if view.proves("them(always_cooperate) == C") else "D"
