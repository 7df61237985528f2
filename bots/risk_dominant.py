"""Hunt what pays more against one who may do either, unless the other is proved to hunt the stag.

By default that is the hare. The stag pays more where its prize outweighs what is lost by hunting
it alone.

Names: risk dominance (J. C. Harsanyi and R. Selten, A General Theory of Equilibrium Selection in
    Games, 1988)
Plays: stag_hunt, one-shot
"""


def act(view):
    def worth(move):
        payoffs = view.game.payoffs.items()
        return sum(paid[view.seat] for joint, paid in payoffs if joint[view.seat] == move)

    if view.proves("them(me) == stag"):
        return "stag"
    return max(view.legal, key=worth)
