"""Play the best reply to what the other does when simulated, and swerve if nothing comes of it.

It dares against whoever reads it and gives way, and swerves before the stubborn. Its copies each
see the other swerve, and crash.

Names: level-k reasoning (R. Nagel, "Unraveling in guessing games", American Economic Review 85,
    1995), with a program to look at instead of a guess
Plays: chicken
"""


def act(view):
    theirs = view.simulate()
    return "dare" if theirs == "swerve" else "swerve"
