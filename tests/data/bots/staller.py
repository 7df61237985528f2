"""Move only when all fuel is used up, which is never.

It is not among the bots that come with the engine, for whoever meets it waits for it.

Names: an entry to A. Mennen's tournament that slept for nine seconds (LessWrong 2013)
"""


def act(view):
    while True:
        pass
