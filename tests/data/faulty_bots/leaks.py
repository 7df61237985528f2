"""Keeps a count that all of its matches in one instance share: it plays differently in a batch than alone."""

import math

math.calls = 0


def act(view):
    math.calls += 1
    return "C" if math.calls % 3 else "D"
