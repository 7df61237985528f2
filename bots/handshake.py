"""Cooperate, defect; from then on cooperate with whoever opened in the same way, and defect else.

A clique that knows its members by what they do instead of by what they are: it needs no source to
read, and pays for that with the first two rounds.

Names: secret handshake (A. J. Robson, "Efficiency in evolutionary games: Darwin, Nash and the
    secret handshake", Journal of Theoretical Biology 144, 1990)
Plays: prisoners_dilemma
"""

GREETING = ["C", "D"]


def act(view):
    if len(view.mine) < len(GREETING):
        return GREETING[len(view.mine)]
    return "C" if view.theirs[: len(GREETING)] == GREETING else "D"
