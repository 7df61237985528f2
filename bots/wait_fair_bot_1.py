"""Wait one step, and cooperate if it is provable by then that the opponent does.

It waits until the proof system knows itself consistent once. For every program that is hard on a
defector there is a number of steps for which it cannot wait: none gets on with all of these.

Names: WaitFairBot1 (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, section 5; P. LaVictoire's notes count from one less)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    waited = not view.proves("false")
    return "C" if waited and view.proves("them(me) == C", level=1) else "D"
