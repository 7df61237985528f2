"""Defect if it is provable that the opponent defects if I cooperate.

It defects against everybody, a cooperator included: that nothing is proved against the opponent
cannot be proved, so that its own cooperation implies whatever one likes. (Footnote 6 of the paper
has it cooperate with a cooperator; provability logic has not.)

Names: DIMCID, "defect if my cooperation implies defection" (A. Critch, M. Dennis and S. Russell,
    "Cooperative and uncooperative institution designs", arXiv:2208.07006, 2022), IndignationBot
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    return "D" if view.proves("me(them) == C -> them(me) == D") else "C"
