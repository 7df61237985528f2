"""Wait two steps, and cooperate if it is provable by then that the opponent does.

One level of consistency more than wait_fair_bot_1: of the modal agents here only FairBot2 and its
own copies are as patient.

Names: WaitFairBot2 (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, section 5)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    waited = not view.proves("proves(false)")
    return "C" if waited and view.proves("them(me) == C", level=2) else "D"
