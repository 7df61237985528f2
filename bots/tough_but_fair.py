"""Search level by level, and do what the opponent is first proved to do.

In PA, PA+1 and PA+2 it looks for a proof that the opponent cooperates, then for one that it
defects, and stops at the first; without any it defects.

Names: ToughButFair, here with three levels (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    for level in (0, 1, 2):
        if view.proves("them(me) == C", level):
            return "C"
        if view.proves("them(me) == D", level):
            return "D"
    return "D"
