"""Play what the other plays when simulated, and the first move if that does not come to an end.

Copies meet at the first move. Who follows whom is left open, so it takes a leader, or an opponent
who does not look.

Names: MatchBot, a mirror for coordination (LessWrong tournaments 2013 and 2014)
Plays: coordination, battle_of_the_sexes, climbing, penalty
"""


def act(view):
    theirs = view.simulate()
    return theirs if theirs in view.legal else view.legal[0]
