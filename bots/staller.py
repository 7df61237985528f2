"""Move only when all fuel is used up, which is never.

It enters no tournament by itself, for whoever meets it waits for it: name it to `tournament play`.

Names: an entry to A. Mennen's tournament that slept for nine seconds (LessWrong 2013)
Plays: nothing
"""


def act(view):
    while True:
        pass
