"""Cooperate with exact copies of oneself, and with nobody else.

The oldest proof that programs can cooperate in the one-shot game: neither copy can gain by
changing, because a changed program is no copy. It is as brittle as it is safe: a space more in the
source makes a stranger, which canonical_clique mends.

Names: CliqueBot (R. P. McAfee 1984; J. V. Howard, "Cooperation in the Prisoner's Dilemma", Theory
    and Decision 24, 1988; M. Tennenholtz, "Program Equilibrium", Games and Economic Behavior 49,
    2004)
Plays: prisoners_dilemma
"""


def act(view):
    return "C" if view.them.source == view.me.source else "D"
