"""Beat the move that the opponent has shown most often.

Names: freqbot (D. Billings's First International RoShamBo Programming Competition, 1999)
Plays: rock_paper_scissors
"""

BEATEN_BY = {"rock": "paper", "paper": "scissors", "scissors": "rock"}


def act(view):
    if not view.theirs:
        return view.rng.choice(view.legal)
    return BEATEN_BY[max(view.legal, key=view.theirs.count)]
