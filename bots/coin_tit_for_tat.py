"""Walk to one's own coin, around the other's, but to the other's once it has taken mine.

It makes peace when the other takes its own coin.

Names: Tit For Tat (Rapoport 1980), in the coin game after amTFT (A. Lerer and A. Peysakhovich,
    arXiv:1707.01068, 2017)
Plays: coin_game
"""

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Bot:
    def __init__(self):
        self.angry = False
        self.before = {}

    def act(self, view):
        seen, size = view.observation, view.observation["size"]
        if seen["other"] == self.before.get("other_coin"):
            self.angry = False
        if seen["other"] == self.before.get("my_coin"):
            self.angry = True
        self.before = seen
        wanted, spared = ("other_coin", None) if self.angry else ("my_coin", "other_coin")

        def cost(move):
            cell = [(x + step) % size for x, step in zip(seen["me"], WAYS[move], strict=True)]
            ways = zip(cell, seen[wanted], strict=True)
            gaps = [min((x - y) % size, (y - x) % size) for x, y in ways]
            return cell == seen.get(spared), sum(gaps), max(gaps)

        return min(view.legal, key=cost)
