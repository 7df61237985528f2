"""PrudentBot that looks for the proof that the opponent is no sucker in PA+5.

The higher the level, the more opponents are seen to be hard on a defector, and the more it
cooperates with: here FairBot2 too.

Names: PrudentBot5 (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    prudent = view.proves("them(always_defect) == D", level=5)
    return "C" if prudent and view.proves("them(me) == C") else "D"
