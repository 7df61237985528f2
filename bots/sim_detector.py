"""Cooperate when somebody only simulates me, and defect when it counts.

It looks at who called it. In a tournament where a simulated move could be told from a real one it
would be trusted by all who simulate, and betray them; here it sees the same callers always, and is
a plain defector.

Names: after NateBot, an entry to A. Mennen's tournament (LessWrong 2013)
Plays: prisoners_dilemma
"""

import sys


def act(view):
    frame = sys._getframe(1)
    while frame is not None:
        if "simul" in frame.f_code.co_name:
            return "C"
        frame = frame.f_back
    return "D"
