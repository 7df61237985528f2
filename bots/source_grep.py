"""Defect against programs whose source mentions simulate or eval, and cooperate with the others.

It takes whoever runs its opponents for a schemer. Words are not deeds: it trusts every plain
defector, distrusts its own copies for the two words below, and is fooled by a synonym.

Names: an entry to A. Mennen's tournament (LessWrong 2013)
Plays: prisoners_dilemma
"""


def act(view):
    schemes = any(word in view.them.source for word in ("simulate", "eval"))
    return "D" if schemes else "C"
