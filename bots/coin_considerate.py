"""Walk to one's own coin, around the other's.

Two of a kind only ever gain. Whoever takes all coins takes advantage of it.

Names: cooperators of the coin game (A. Lerer and A. Peysakhovich, arXiv:1707.01068, 2017)
Plays: coin_game
"""

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def act(view):
    seen = view.observation
    size = seen["size"]

    def cost(move):
        cell = [(x + step) % size for x, step in zip(seen["me"], WAYS[move], strict=True)]
        ways = zip(cell, seen["my_coin"], strict=True)
        gaps = [min((x - y) % size, (y - x) % size) for x, y in ways]
        # Of cells equally near, one off the straight line: there might be no way around from the other.
        return cell == seen["other_coin"], sum(gaps), max(gaps)

    return min(view.legal, key=cost)
