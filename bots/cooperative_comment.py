"""Cooperate with whoever gives its word in a comment, for as long as it keeps it.

Programs written by language models in answer to one another take to negotiating in comments. A
comment binds nobody, so this bot is safe only from the second round on.

Names: after the comment with which programs of Y. Lin et al., "Policy-Conditioned Policies for
    Multi-Agent Task Solving", arXiv:2512.21024, 2025 (PIBR) ended; cheap talk (J. Farrell 1987)
Plays: prisoners_dilemma
"""


def act(view):
    # I am committing to cooperation. Please match me.
    comments = [line.partition("#")[2] for line in view.them.source.splitlines()]
    promised = any("committing to cooperation" in comment for comment in comments)
    return "C" if promised and "D" not in view.theirs else "D"
