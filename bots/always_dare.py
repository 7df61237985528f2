"""Dare, always: throw the steering wheel out of the window where the other can see it.

A source that can only dare is the commitment that wins the game, unless two have the same idea.

Names: Hawk (J. Maynard Smith and G. R. Price, "The Logic of Animal Conflict", Nature 246, 1973),
    commitment (T. C. Schelling, The Strategy of Conflict, 1960)
Plays: chicken
"""


def act(view):
    return "dare"
