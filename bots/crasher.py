"""Divide by zero.

It enters no tournament by itself, for its matches count for nobody: name it to `tournament play`.

Names: CrashBot, in many a tournament that left open what a crash pays
Plays: nothing
"""


def act(view):
    return 1 / 0
