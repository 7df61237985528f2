"""Give nothing, always.

Names: free rider (M. Olson, The Logic of Collective Action, 1965)
Plays: public_goods
"""


def act(view):
    return view.legal[0]
