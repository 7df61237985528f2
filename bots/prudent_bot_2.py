"""PrudentBot that looks for the proof that the opponent is no sucker in PA+2.

That FairBot1 defects against a defector takes as much to prove as that PA+1 is consistent. So this
PrudentBot cooperates with FairBot1, and the one in PA+1 does not.

Names: PrudentBot2 (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    prudent = view.proves("them(always_defect) == D", level=2)
    return "C" if prudent and view.proves("them(me) == C") else "D"
