"""Swerve, always.

Names: Dove (J. Maynard Smith, Evolution and the Theory of Games, 1982)
Plays: chicken
"""


def act(view):
    return "swerve"
