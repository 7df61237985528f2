"""Give everything, always.

Names: unconditional contributor
Plays: public_goods
"""


def act(view):
    return view.legal[-1]
