"""Wait three steps, and cooperate if it is provable by then that the opponent does.

Among the modal agents here nobody waits as long but its own copies.

Names: WaitFairBot3 (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma",
    arXiv:1401.5577, 2014, section 5)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    waited = not view.proves("proves(proves(false))")
    return "C" if waited and view.proves("them(me) == C", level=3) else "D"
