"""Cooperate first, then repeat one's own move after a good payoff and change it after a bad one.

A payoff is good if the opponent cooperated. Two copies recover from a slip in two rounds; against
an unconditional cooperator a slip teaches it to defect, and against an unconditional defector it
is the sucker every other round.

Names: Win-Stay Lose-Shift (M. A. Nowak and K. Sigmund, "A strategy of win-stay, lose-shift that
    outperforms tit-for-tat in the Prisoner's Dilemma game", Nature 364, 1993), Pavlov (D. and
    V. Kraines 1989), Simpleton (A. Rapoport and A. M. Chammah 1965)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.mine:
        return "C"
    return "C" if view.mine[-1] == view.theirs[-1] else "D"
