"""PrudentBot: cooperate if it is provable that the opponent cooperates with me and would not be a sucker.

It cooperates with itself and with FairBot, and defects against whoever cooperates with a defector.
That the opponent defects against a defector takes the proof system to know its own consistency.

Names: PrudentBot (Barasz et al. 2014, algorithm 5)
Plays: prisoners_dilemma
"""


def act(view):
    prudent = view.proves("them(always_defect) == D", level=1)
    return "C" if prudent and view.proves("them(me) == C") else "D"
