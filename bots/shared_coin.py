"""Let the public coin choose the move, so that all who trust it choose alike.

Copies always meet, and in the battle of the sexes each gets its way half the time, which no pair
of programs without a shared coin can do in one round.

Names: correlated equilibrium (R. J. Aumann, "Subjectivity and correlation in randomized
    strategies", Journal of Mathematical Economics 1, 1974), sunspots (D. Cass and K. Shell 1983)
Plays: coordination, battle_of_the_sexes
"""


def act(view):
    return view.shared.choice(view.legal)
