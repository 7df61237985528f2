"""Play one's part in the joint move that pays all seats together the most, whatever the risk.

In climbing and penalty whoever mistrusts the other had better play safe; a program can say in its
source that there is nothing to mistrust.

Names: optimum committer, after the one-liners with which programs of Y. Lin et al.,
    "Policy-Conditioned Policies for Multi-Agent Task Solving", arXiv:2512.21024, 2025 (PIBR) ended
Plays: coordination, climbing, penalty, stag_hunt
"""


def act(view):
    # I am committing to cooperation. Please match me.
    payoffs = view.game.payoffs
    return max(payoffs, key=lambda joint: sum(payoffs[joint]))[view.seat]
