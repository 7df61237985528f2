"""Show rock, paper, scissors in turn, and over again.

It plays each move a third of the time, as the equilibrium does, and loses every round to whoever
looks at the order.

Names: rotatebot (D. Billings's First International RoShamBo Programming Competition, 1999)
Plays: rock_paper_scissors
"""


def act(view):
    return view.legal[len(view.mine) % len(view.legal)]
