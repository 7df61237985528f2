"""Give everything first, then what the others gave on average in the last round.

About half of all people contribute in this way. Among free riders it stops after one round, and
among its copies it never does.

Names: conditional cooperator (U. Fischbacher, S. Gächter and E. Fehr, "Are people conditionally
    cooperative? Evidence from a public goods experiment", Economics Letters 71, 2001)
Plays: public_goods
"""


def act(view):
    if not view.mine:
        return view.legal[-1]
    others = sum(view.history[-1]) - view.mine[-1]
    return round(others / (view.game.seats - 1))
