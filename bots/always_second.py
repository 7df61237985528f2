"""Play the second legal move, always: the other convention, as firmly held.

Names: convention (D. Lewis, Convention, 1969)
Plays: coordination, battle_of_the_sexes, climbing, penalty
"""


def act(view):
    return view.legal[1]
