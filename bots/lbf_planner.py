"""Work out how two players gather all food soonest, and play one's part in it.

Both seats see the same and search alike, so two of a kind agree without a word, and are as good as
two players can be. It looks two foods ahead, which is all that there are in the paper's setting,
takes every food to need both, and on grids of more than 8 by 8 is content with a good plan. It does
not wonder what the other does instead.

Names: joint planning by A* (P. E. Hart, N. J. Nilsson and B. Raphael 1968), committed to in a comment
    as by programs of Y. Lin et al., "Policy-Conditioned Policies for Multi-Agent Task Solving",
    arXiv:2512.21024, 2025 (PIBR)
Plays: level_based_foraging, two-seat
"""

from heapq import heappop, heappush

WAYS = {"none": (0, 0), "north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
PLAN = {}
"""Joint moves by place. A place is the cells of both seats, and those of the food that is left."""


def act(view):
    # I am committing to the joint plan that this search finds from what we both see. Please match me.
    seen = view.observation
    if not seen["foods"] or None in seen["others"]:
        return view.rng.choice(view.legal)
    players = [tuple(player[:2]) for player in (seen["me"], *seen["others"])]
    if view.seat == 1:
        players.reverse()
    place = (*players, tuple(tuple(food[:2]) for food in seen["foods"]))
    if place not in PLAN:
        PLAN.update(plan(place, seen["size"]))
    return PLAN[place][view.seat]


def plan(start, size):
    """The joint moves, by place, that gather the two nearest foods soonest."""
    one, two, foods = start
    wanted = sorted(foods, key=lambda food: distance(one, food) + distance(two, food))[:2]
    rounds, came = {start: 0}, {}
    queue = [(0, 0, start)]
    while True:
        *_, place = heappop(queue)
        if not any(food in place[2] for food in wanted):
            return way_to(place, came)
        for joint, after in outcomes(place, size):
            if rounds[place] + 1 < rounds.get(after, 10_000):
                rounds[after], came[after] = rounds[place] + 1, (place, joint)
                ahead = to_go(*after[:2], [food for food in wanted if food in after[2]])
                # Overrated, the rounds to go lead to a plan faster, but not always to the best.
                guess = ahead if size <= 8 else 3 * ahead
                heappush(queue, (rounds[after] + guess, ahead, after))


def outcomes(place, size):
    """The joint moves that may be of use here, each with the place that it leads to."""
    one, two, foods = place
    for food in foods:
        if distance(one, food) == distance(two, food) == 1:
            return [(("load", "load"), (one, two, tuple(f for f in foods if f != food)))]
    ways, others = reach(one, foods, size), reach(two, foods, size)
    return [((m, n), (a, b, foods)) for m, a in ways for n, b in others if a != b]


def reach(cell, foods, size):
    """The moves of a player, each with the cell that it leads to."""
    ends = [(move, (cell[0] + rows, cell[1] + cols)) for move, (rows, cols) in WAYS.items()]
    return [(m, end) for m, end in ends if end not in foods and 0 <= min(end) <= max(end) < size]


def to_go(one, two, foods):
    """The rounds that it takes at least: both to the first food, then to the other, and a load each."""
    if not foods:
        return 0
    between = distance(*foods) - 1 if len(foods) == 2 else 0
    return between + min(max(distance(one, food), distance(two, food)) for food in foods)


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def way_to(place, came):
    """The joint moves that led to the place, by the places where they were made."""
    way = {}
    while place in came:
        place, joint = came[place]
        way[place] = joint
    return way
