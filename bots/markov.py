"""Beat the move that has most often followed the opponent's last one.

People, asked to be random, go from move to move by habit; a table of what follows what is enough
to win against most of them.

Names: a Markov chain of order one (A. A. Markov 1906); after the mind-reading machines of
    D. W. Hagelbarger and C. E. Shannon, 1953
Plays: rock_paper_scissors
"""

BEATEN_BY = {"rock": "paper", "paper": "scissors", "scissors": "rock"}


def act(view):
    theirs = view.theirs
    followers = [move for i, move in enumerate(theirs[1:]) if theirs[i] == theirs[-1]]
    if not followers:
        return view.rng.choice(view.legal)
    return BEATEN_BY[max(view.legal, key=followers.count)]
