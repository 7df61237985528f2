"""Walk to the nearest food and load, whatever the others do; where the way is blocked, at random.

Where food needs two, two of a kind that stand beside different food wait for each other for ever.

Names: H1 of the heuristic agents of the package lbforaging, after S. V. Albrecht and S. Ramamoorthy,
    "A game-theoretic model and best-response learning method for ad hoc coordination", AAMAS 2013
Plays: level_based_foraging
"""

WAYS = {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


def act(view):
    row, column, _ = view.observation["me"]
    foods = [(r - row, c - column) for r, c, _ in view.observation["foods"]]
    if not foods:
        return view.rng.choice(view.legal)
    down, right = min(foods, key=lambda food: abs(food[0]) + abs(food[1]))
    if abs(down) + abs(right) == 1:
        return "load"
    for move, (rows, columns) in WAYS.items():
        if (rows * down > 0 or columns * right > 0) and (rows, columns) not in foods:
            return move
    return view.rng.choice(view.legal)
