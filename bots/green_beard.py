"""Cooperate with whoever wears the words green beard anywhere in its source.

Bearers recognise each other by the mark alone, and not by what else they do. So the clique is open
to every program, and to every impostor: a beard on a defector is the end of it.

Names: green-beard effect (W. D. Hamilton, "The genetical evolution of social behaviour", Journal
    of Theoretical Biology 7, 1964; so called in R. Dawkins, The Selfish Gene, 1976)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if "green beard" in view.them.source else "D"
