"""Catch a hare, always.

The safer of the two equilibria, and the one that evolution and learning usually end in.

Names: risk dominance (J. C. Harsanyi and R. Selten, A General Theory of Equilibrium Selection in
    Games, 1988)
Plays: stag_hunt
"""


def act(view):
    return "hare"
