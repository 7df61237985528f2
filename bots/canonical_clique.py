"""Cooperate with programs that differ from this one only in layout, comments and names.

Names: CliqueBot on the canonical form; after M. Tennenholtz, "Program Equilibrium", Games and
    Economic Behavior 49, 2004
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.them.tree == view.me.tree else "D"
