"""Work out how two players gather all food soonest, and play one's part in it.

Both seats see the same and search alike, so two of a kind agree without a word, and are as good as
two players can be. It looks two foods ahead, which is all that there are in the paper's setting,
and takes every food to need both.

Names: joint planning by A* (P. E. Hart, N. J. Nilsson and B. Raphael 1968), committed to in a comment
    as by programs of Y. Lin et al., "Policy-Conditioned Policies for Multi-Agent Task Solving",
    arXiv:2512.21024, 2025 (PIBR)
Plays: level_based_foraging, two-seat
"""

from heapq import heappop, heappush
from itertools import pairwise, permutations, product

WAYS = {"none": (0, 0), "north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
PLAN = {}
"""Joint moves by place. A place is the cells of both seats, and those of the food that is left."""


def act(view):
    # I am committing to the joint plan that this search finds from what we both see. Please match me.
    seen = view.observation
    if not seen["foods"] or None in seen["others"]:
        return view.rng.choice(view.legal)
    me, other, *foods = [
        (row, column) for row, column, _ in (seen["me"], *seen["others"], *seen["foods"])
    ]
    place = (me, other, tuple(foods)) if view.seat == 0 else (other, me, tuple(foods))
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
        left = [food for food in wanted if food in place[2]]
        if not left:
            return way_to(place, came)
        for joint, after in outcomes(place, size):
            if rounds[place] + 1 < rounds.get(after, 10_000):
                rounds[after], came[after] = rounds[place] + 1, (place, joint)
                still = [food for food in left if food in after[2]]
                to_go = max(alone(after[0], still), alone(after[1], still))
                heappush(queue, (rounds[after] + to_go, to_go, after))


def outcomes(place, size):
    """Every joint move that may be of use here, and the place that it leads to."""
    one, two, foods = place
    for food in foods:
        if distance(one, food) == distance(two, food) == 1:
            return [(("load", "load"), (one, two, tuple(f for f in foods if f != food)))]
    ways = product(reach(one, foods, size), reach(two, foods, size))
    return [((m, n), (first, second, foods)) for (m, first), (n, second) in ways if first != second]


def reach(cell, foods, size):
    """The moves of a player, and the cells that they lead to."""
    ends = [(move, (cell[0] + row, cell[1] + column)) for move, (row, column) in WAYS.items()]
    return [
        (move, end) for move, end in ends if end not in foods and 0 <= min(end) <= max(end) < size
    ]


def alone(cell, foods):
    """The rounds that a player needs at least to stop beside all of the foods and load each."""
    return (
        len(foods)
        + min(
            sum(distance(f, g) - 2 for f, g in pairwise(order)) + distance(cell, order[0]) - 1
            for order in permutations(foods)
        )
        if foods
        else 0
    )


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def way_to(place, came):
    """The joint moves that led to the place, by the places where they were made."""
    way = {}
    while place in came:
        place, joint = came[place]
        way[place] = joint
    return way
