"""Cooperate with whoever provably cooperates with a defector, and with nobody else.

It rewards suckers alone, and so shows that no program does best against all others: whoever plays
well against everybody else does badly here.

Names: TrollBot (M. Barasz et al., "Robust Cooperation in the Prisoner's Dilemma", arXiv:1401.5577,
    2014, section 5)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "C" if view.proves("them(always_defect) == C") else "D"
