"""Do what the opponent does when it is simulated, and cooperate if that does not come to an end.

A mirror that takes silence for kindness: two of them cooperate. Whoever takes it for malice gets
the better of this one.

Names: SmarterMirrorBot (tetronian/pdtournament, LessWrong 2014)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.simulate() in ("C", view.TIMEOUT) else "D"
