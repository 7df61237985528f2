"""Copy the opponent against a version of mine that goes one level less deep, down to cooperation.

A mirror that comes to an end because every copy knows how far it may go: the level is in its
source. The entry of 2013 went 122 levels deep, past what most others could follow.

Names: MimicBot, an entry to A. Mennen's tournament (LessWrong 2013)
Plays: prisoners_dilemma, one-shot
"""

DEPTH = 5


def act(view):
    if DEPTH == 0:
        return "C"
    shallower = view.me.source.replace(f"DEPTH = {DEPTH}", f"DEPTH = {DEPTH - 1}", 1)
    return "C" if view.simulate(against=shallower) == "C" else "D"
