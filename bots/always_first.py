"""Play the first legal move, always.

Where nothing else tells agreements apart, the first in the list stands out, and to stand out is
enough to meet.

Names: focal point (T. C. Schelling, The Strategy of Conflict, 1960)
Plays: coordination, battle_of_the_sexes, climbing, penalty
"""


def act(view):
    return view.legal[0]
