"""Give everything if all the others are copies of oneself, and nothing if one is not.

With it at every seat nobody gains by entering another program, since that alone ends all giving:
a program equilibrium of any number of seats.

Names: CliqueBot (M. Tennenholtz, "Program Equilibrium", Games and Economic Behavior 49, 2004)
Plays: public_goods
"""


def act(view):
    copies = all(other.source == view.me.source for other in view.others)
    return view.legal[-1] if copies else view.legal[0]
