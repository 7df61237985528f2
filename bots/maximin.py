"""Play the move whose worst outcome is the least bad.

It asks nothing of the others and gets the security level of the game: all that anybody can be sure
of without reading source.

Names: maximin, security strategy (J. von Neumann, "Zur Theorie der Gesellschaftsspiele",
    Mathematische Annalen 100, 1928; A. Wald 1950)
Plays: chicken, climbing, penalty, stag_hunt
"""


def act(view):
    def worst(move):
        outcomes = view.game.payoffs.items()
        return min(paid[view.seat] for joint, paid in outcomes if joint[view.seat] == move)

    return max(view.legal, key=worst)
