"""Play any legal move, each with the same probability.

Whoever reads this source learns nothing, since the private tape is not in it: in rock, paper,
scissors and in matching pennies that is the best there is. In the prisoner's dilemma it came last
of fifteen in Axelrod's first tournament.

Names: Random (R. Axelrod, "Effective Choice in the Prisoner's Dilemma", Journal of Conflict
    Resolution 24, 1980), Lunatic, the uniform mixed strategy (J. von Neumann 1928)
"""


def act(view):
    return view.rng.choice(view.legal)
