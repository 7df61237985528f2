"""Do to the opponent what it does to a defector.

Names: a probe in several entries to A. Mennen's tournament (LessWrong 2013)
Plays: prisoners_dilemma
"""

DEFECTOR = "def act(view):\n    return 'D'\n"


def act(view):
    return "C" if view.simulate(against=DEFECTOR) == "C" else "D"
