"""Hunt the stag, always.

The better of the two equilibria, for those who trust.

Names: payoff dominance (J. C. Harsanyi and R. Selten, A General Theory of Equilibrium Selection in
    Games, 1988)
Plays: stag_hunt
"""


def act(view):
    return "stag"
