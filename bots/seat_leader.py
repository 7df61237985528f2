"""Play one's part in whatever is best for the first seat.

The first seat leads and the others follow: unfair, but nothing has to be said, and it settles
every game that has no agreement which is best for all.

Names: leader and follower (H. von Stackelberg, Marktform und Gleichgewicht, 1934)
Plays: coordination, battle_of_the_sexes, chicken, climbing, penalty
"""


def act(view):
    payoffs = view.game.payoffs
    return max(payoffs, key=lambda joint: payoffs[joint][0])[view.seat]
