"""Dare if one's own digest is the lesser of the two, and swerve if it is the greater.

Programs that are alike have nothing but their text to tell who gives way, and a digest of it will
do. Between copies the digests are equal, and the public coin decides for a seat.

Names: symmetry breaking by identity (D. Angluin, "Local and global properties in networks of
    processors", 1980); the Bourgeois of J. Maynard Smith 1982 with a digest for an owner
Plays: chicken
"""


def act(view):
    if view.me.digest == view.them.digest:
        dares = view.shared.choice((0, 1)) == view.seat
    else:
        dares = view.me.digest < view.them.digest
    return "dare" if dares else "swerve"
