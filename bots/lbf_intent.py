"""Guess from the others' last five rounds which food they are after, and go there, ever more surely.

Food is drawn by a softmax over how much nearer the others came to it, how near they are, how near
oneself is and how long one has waited there, at a temperature that falls from round to round. Who
has stood still for three rounds away from food steps aside at random.

Names: intent tracking, softmax targets, annealing and deadlock avoidance as in the last programs of
    Y. Lin et al., "Policy-Conditioned Policies for Multi-Agent Task Solving", arXiv:2512.21024, 2025
Plays: level_based_foraging
"""

from math import exp

WAYS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
WINDOW, PATIENCE = 5, 3
HOT, COOLING, COLD = 1.0, 0.9, 0.5


class Bot:
    def __init__(self):
        self.trails = []
        self.cell, self.still = None, 0

    def act(self, view):
        seen = view.observation
        me, foods = seen["me"], seen["foods"]
        self.trails.append([other for other in seen["others"] if other])
        self.still = self.still + 1 if me == self.cell else 0
        self.cell = me
        if not foods:
            return view.rng.choice(view.legal)
        temperature = max(COLD, HOT * COOLING ** seen["step"])
        weights = [exp(self.pull(food) / temperature) for food in foods]
        target = view.rng.choices(foods, weights)[0]
        if distance(me, target) == 1:
            return "load"
        taken = [piece[:2] for piece in foods + self.trails[-1]]
        ends = {move: [me[0] + rows, me[1] + columns] for move, (rows, columns) in WAYS.items()}
        nearer = [
            move
            for move, end in ends.items()
            if end not in taken and distance(end, target) < distance(me, target)
        ]
        if not nearer or self.still >= PATIENCE:
            return view.rng.choice(view.legal)
        return view.rng.choice(nearer)

    def pull(self, food):
        """How much speaks for this food."""
        then, now = (
            sum(distance(other, food) for other in others)
            for others in (self.trails[-WINDOW:][0], self.trails[-1])
        )
        own = distance(self.cell, food)
        return then - 2 * now - own - self.still * (own == 1)


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
