"""Do what the public coin says: one seat dares or both swerve, each a third of the time.

Told to dare, one knows that the other swerves. Told to swerve, one knows only that the other may:
with the default payoffs it is best to obey either way. Nobody ever crashes, and each is paid more
than in the mixed equilibrium.

Names: correlated equilibrium (R. J. Aumann, "Subjectivity and correlation in randomized
    strategies", Journal of Mathematical Economics 1, 1974)
Plays: chicken
"""

ADVICE = (("dare", "swerve"), ("swerve", "dare"), ("swerve", "swerve"))


def act(view):
    return view.shared.choice(ADVICE)[view.seat]
