"""Walk to one's own coin, around the other's.

Two of a kind are never paid less than nothing, and whoever takes everything takes advantage of it.

Names: cooperators of the coin game (A. Lerer and A. Peysakhovich, arXiv:1707.01068, 2017)
Plays: coin_game
"""

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def act(view):
    seen = view.observation
    size = seen["size"]

    def cost(move):
        cell = [(x + dx) % size for x, dx in zip(seen["me"], WAYS[move])]
        gaps = [min((x - y) % size, (y - x) % size) for x, y in zip(cell, seen["my_coin"])]
        # The longer gap goes first, or else one might step to and fro before the other's coin.
        return cell == seen["other_coin"], sum(gaps), max(gaps)

    return min(view.legal, key=cost)
