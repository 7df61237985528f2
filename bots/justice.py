"""Do to the opponent what it does to a cooperator.

It shows the opponent an always cooperating program in its own place. Whoever exploits those gets
nothing here; whoever is kind to all but this bot exploits it.

Names: JusticeBot (LessWrong tournaments 2013 and 2014)
Plays: prisoners_dilemma
"""

COOPERATOR = "def act(view):\n    return 'C'\n"


def act(view):
    return "C" if view.simulate(against=COOPERATOR) == "C" else "D"
