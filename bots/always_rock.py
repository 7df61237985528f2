"""Show a rock, always: the plainest thing to find out and to beat.

Names: Good ole rock, the rockbot of D. Billings's First International RoShamBo Programming
    Competition, 1999
Plays: rock_paper_scissors
"""


def act(view):
    return "rock"
