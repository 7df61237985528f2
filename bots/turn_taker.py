"""Play one's part in what is best for the first seat, then for the second, and so on in turn.

Fair without a coin, given that the match lasts.

Names: turn-taking (A. M. Colman and L. Browning, "Evolution of cooperative turn-taking",
    Evolutionary Ecology Research 11, 2009)
Plays: battle_of_the_sexes, chicken
"""


def act(view):
    payoffs = view.game.payoffs
    favoured = len(view.mine) % view.game.seats
    return max(payoffs, key=lambda joint: payoffs[joint][favoured])[view.seat]
