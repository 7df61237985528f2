"""Mirror: do what the opponent would do against me, as far as that can be found out by simulating it.

Against itself, and against all who wait for it to decide, the simulation never ends: then there is
no move to copy, which is a fault.

Names: MirrorBot (LessWrong tournaments 2013 and 2014)
Plays: prisoners_dilemma
"""


def act(view):
    return view.simulate()
