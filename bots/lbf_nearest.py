"""Walk to the food that is nearest to all players together, and give way to the seats before one's own.

Of food equally near, the first by row and column. Who sees what the others see can tell their steps,
so two of a kind meet at the same food and never bump into each other.

Names: H2 of the heuristic agents of the package lbforaging, after S. V. Albrecht and S. Ramamoorthy,
    "A game-theoretic model and best-response learning method for ad hoc coordination", AAMAS 2013
Plays: level_based_foraging
"""

WAYS = {"none": (0, 0), "north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}


def act(view):
    seen = view.observation
    players = {
        (view.seat + turn) % view.game.seats: tuple(player[:2])
        for turn, player in enumerate([seen["me"], *seen["others"]])
        if player
    }
    foods = [tuple(food[:2]) for food in seen["foods"]]
    if not foods:
        return view.rng.choice(view.legal)
    food = min(foods, key=lambda food: sum(distance(cell, food) for cell in players.values()))
    loading = [cell for cell in players.values() if distance(cell, food) == 1]
    steps = steps_to(food, foods + loading, seen["size"])
    ends = []
    for seat, cell in sorted(players.items()):
        if cell in loading:
            move = "load"
        else:
            free = {move: end for move, end in around(cell).items() if end not in ends}
            move = min(free, key=lambda move: steps.get(free[move], 1000), default="none")
            ends.append(around(cell)[move])
        if seat == view.seat:
            return move


def around(cell):
    """Where moves lead to, if nothing is in the way."""
    return {move: (cell[0] + rows, cell[1] + columns) for move, (rows, columns) in WAYS.items()}


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def steps_to(food, walls, size):
    """How many steps it is to the food, from every cell that is no wall."""
    steps, queue = {food: 0}, [food]
    for cell in queue:
        for end in around(cell).values():
            if end not in steps and end not in walls and 0 <= min(end) <= max(end) < size:
                steps[end] = steps[cell] + 1
                queue.append(end)
    return steps
