"""Walk to the nearest coin, whoever's it is.

Best for oneself, whatever the other does, and worse for two of a kind than leaving each other's
coins alone.

Names: selfish agents (A. Lerer and A. Peysakhovich, arXiv:1707.01068, 2017)
Plays: coin_game
"""

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def act(view):
    seen = view.observation
    size = seen["size"]

    def distance(move, coin):
        ends = zip(seen["me"], WAYS[move], seen[coin], strict=True)
        return sum(min((x + step - y) % size, (y - x - step) % size) for x, step, y in ends)

    return min(view.legal, key=lambda m: min(distance(m, "my_coin"), distance(m, "other_coin")))
