"""Play what beats the hand that the other shows when it is simulated.

It beats every program that does not draw from its private tape, since reading is as good as seeing
the future. A simulated opponent draws from another tape than the real one, so chance is safe from
it. Where two of them look into each other, they draw at random.

Names: MindReader (Axelrod-Python 2015; banned from its tournaments)
Plays: rock_paper_scissors
"""


def act(view):
    theirs = view.simulate()
    if theirs not in view.legal:
        return view.rng.choice(view.legal)
    return {"rock": "paper", "paper": "scissors", "scissors": "rock"}[theirs]
