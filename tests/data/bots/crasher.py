"""Divide by zero.

It is not among the bots that come with the engine, for its matches count for nobody.

Names: CrashBot, in many a tournament that left open what a crash pays
"""


def act(view):
    return 1 / 0
