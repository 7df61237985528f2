"""In the first seat, lead with what is best for oneself; in another, answer what the first does.

The follower simulates the leader and plays the best reply, so that it also follows a leader who
leads elsewhere. seat_leader follows nobody but itself.

Names: leader and follower (H. von Stackelberg, Marktform und Gleichgewicht, 1934)
Plays: coordination, battle_of_the_sexes, chicken, climbing, penalty
"""


def act(view):
    payoffs = view.game.payoffs
    if view.seat == 0:
        return max(payoffs, key=lambda joint: payoffs[joint][0])[0]
    lead = view.simulate(seat=0)
    replies = [joint for joint in payoffs if joint[0] == lead] or list(payoffs)
    return max(replies, key=lambda joint: payoffs[joint][view.seat])[view.seat]
