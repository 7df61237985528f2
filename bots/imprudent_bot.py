"""PrudentBot with both its searches in Peano arithmetic: it does not even cooperate with itself.

Of a program that looks for proofs, PA never proves that it finds none, since that would prove PA
consistent. So the opponent's hardness on a defector is proved of those only who look for nothing.

Names: the caution after algorithm 5 of M. Barasz et al., "Robust Cooperation in the Prisoner's
    Dilemma", arXiv:1401.5577, 2014; ImprudentBot0 (klao/provability, 2013)
Plays: prisoners_dilemma, one-shot
"""


def act(view):
    prudent = view.proves("them(always_defect) == D")
    return "C" if prudent and view.proves("them(me) == C") else "D"
