"""Defect against whoever cooperates with a defector, and cooperate with everybody else.

It takes from the weak and pays the hard: defectors exploit it.

Names: an entry to A. Mennen's tournament (LessWrong 2013)
Plays: prisoners_dilemma
"""

DEFECTOR = "def act(view):\n    return 'D'\n"


def act(view):
    return "D" if view.simulate(against=DEFECTOR) == "C" else "C"
