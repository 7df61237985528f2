"""Cooperate first, and always but after being the sucker; make peace two times in three.

After mutual defection it cooperates with probability 2/3. It evolves where the seats move in turn
instead of at once.

Names: Firm But Fair (M. R. Frean, "The prisoner's dilemma without synchrony", Proceedings of the
    Royal Society B 257, 1994)
Plays: prisoners_dilemma
"""


def act(view):
    if not view.mine or view.theirs[-1] == "C":
        return "C"
    if view.mine[-1] == "C":
        return "D"
    return "C" if view.rng.random() < 2 / 3 else "D"
