"""Leave the other's coin alone, unless the last coin that the other took was not its own.

Then it walks to the other's coin, until the other takes its own again.

Names: Tit For Tat (Rapoport 1980), approximately as in amTFT (A. Lerer and A. Peysakhovich,
    arXiv:1707.01068, 2017)
Plays: coin_game
"""

WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class Bot:
    def __init__(self):
        self.angry = False
        self.before = None

    def act(self, view):
        seen, before = view.observation, self.before
        if before and seen["other"] == before["other_coin"]:
            self.angry = False
        if before and seen["other"] == before["my_coin"]:
            self.angry = True
        self.before = seen
        wanted, spared = ("other_coin", "my_coin") if self.angry else ("my_coin", "other_coin")
        size = seen["size"]

        def cost(move):
            cell = [(x + dx) % size for x, dx in zip(seen["me"], WAYS[move])]
            gaps = [min((x - y) % size, (y - x) % size) for x, y in zip(cell, seen[wanted])]
            return cell == seen[spared] and not self.angry, sum(gaps), max(gaps)

        return min(view.legal, key=cost)
