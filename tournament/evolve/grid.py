"""Programs that walk on a grid, for games whose moves are directions and whose observations name cells.

Each program walks to one of the cells that certain parts of the observation name, by the plan with the fewest steps.
It either steps on that cell alone, or makes a certain move beside it, alone or together with other players. The
parameters are: which parts name targets, which part names the other players, whether the players' steps are summed or
the most of them counts, whether the distance to the next target counts, which move is made beside a target, and
whether opposite edges of the grid are joined.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from tournament.game import Move, Setting, StateGame
from tournament.program import Program
from tournament.seeds import Tape, tape_name

WAYS: tuple[dict[Move, tuple[int, int]], ...] = (
    {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)},
    {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)},
)
SAMPLES = 10
"""How many first states are drawn to find the parts of an observation that name cells."""
MOST_TARGETS = 2
"""From how many parts of an observation a program takes its targets at most."""

SOURCE = '''"""Walks on a grid to what it sees there, by the plan with the fewest steps; found by search."""

from itertools import permutations

TARGETS, PLAYERS = {!r}, {!r}
JOIN, AHEAD, BESIDE, JOINED = {}, {}, {!r}, {}
WAYS = {!r}
STEPS = {{}}


def act(view):
    seen = view.observation
    size, targets = seen["size"], named(seen, TARGETS)
    players = [tuple(seen["me"][:2]), *named(seen, PLAYERS)]
    order = sorted(range(len(players)), key=lambda turn: (view.seat + turn) % view.game.seats)
    plans = [
        plan
        for target in targets
        for plan in plans_for(target, [players[turn] for turn in order], targets, size)
    ]
    *_, places = min(plans, default=((),))
    ends = []
    for turn, place in zip(order, places):
        move, end = step(players[turn], steps_to(place, targets, size), ends, size)
        if turn == 0:
            return move or view.legal[0]
        ends.append(end)
    return view.legal[0]


def plans_for(target, players, targets, size):
    """Ways to bring the players to a target: what each costs, and a place for every player."""
    places = [end for _, end in around(target, size) if end not in targets] if BESIDE else [target]
    rest = [cell for cell in targets if cell != target]
    for chosen in permutations(places, len(players)):
        pairs = zip(chosen, players)
        cost = JOIN(steps_to(place, targets, size).get(player, 99) for place, player in pairs)
        after = [JOIN(far(place, cell) for place in chosen) for cell in rest]
        yield cost + AHEAD * min(after, default=0), target, chosen


def step(cell, steps, taken, size):
    """The move of a player who gives way to those before, and where it leads."""
    if steps.get(cell) == 0:
        return BESIDE, cell
    ways = {{end: move for move, end in around(cell, size) if end not in taken}}
    end = min([*ways, cell], key=lambda end: steps.get(end, 99))
    return ways.get(end), end


def steps_to(place, walls, size):
    """How many steps it is to a place, from every cell that leads there."""
    key = (place, *walls)
    if key not in STEPS:
        STEPS[key], queue = {{place: 0}}, [place]
        for cell in queue:
            for _, end in around(cell, size):
                if end not in STEPS[key] and not (BESIDE and end in walls):
                    STEPS[key][end] = STEPS[key][cell] + 1
                    queue.append(end)
    return STEPS[key]


def around(cell, size):
    """The moves from a cell, each with the cell that it leads to."""
    ends = [(move, (cell[0] + rows, cell[1] + columns)) for move, (rows, columns) in WAYS.items()]
    if JOINED:
        return [(move, (row % size, column % size)) for move, (row, column) in ends]
    return [(move, end) for move, end in ends if 0 <= min(end) <= max(end) < size]


def far(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def named(seen, keys):
    """The cells that parts of the observation name: each of them one, or a list."""
    parts = [seen[key] for key in keys if seen[key]]
    many = [cell for part in parts for cell in (part if type(part[0]) is not int else [part])]
    return [tuple(cell[:2]) for cell in many if cell]
'''


def walkers(setting: Setting, seat: int) -> Iterator[Program]:
    """Yield a program for every choice of the parameters; none if the game is not played on a grid."""
    moves = setting.game.moves[seat]
    ways = next((each for each in WAYS if set(each) <= set(moves)), None)
    parts = _parts(setting, seat)
    if ways is None or not parts:
        return
    others = [move for move in moves if move not in ways]
    sizes = range(1, MOST_TARGETS + 1)
    for targets in itertools.chain(*(itertools.combinations(parts, size) for size in sizes)):
        rest = [part for part in parts if part not in targets]
        for beside, players in _manners(others, rest):
            joins = ("sum", "max") if players else ("sum",)
            for join, ahead, joined in itertools.product(joins, (0, 1), (False, True)):
                parameters = (targets, players, join, ahead, beside, joined, ways)
                yield Program("walker", SOURCE.format(*parameters))


def _manners(moves: list[Move], parts: list[str]) -> Iterator[tuple[Move | None, tuple[str, ...]]]:
    """Yield what to do at a target: the move to make beside it, and the parts that name the other players who join.

    The move is None for a program that steps on the target instead, alone.
    """
    yield None, ()
    for move in moves:
        yield move, ()
        yield from ((move, (part,)) for part in parts)


def _parts(setting: Setting, seat: int) -> list[str]:
    """Return the parts of a seat's observation that name cells in a sample of first states, except its own cell."""
    game = setting.game
    if not isinstance(game, StateGame):
        return []
    starts = (game.start(Tape(tape_name("walkers", number))) for number in range(SAMPLES))
    seen = [game.observe(start, seat) for start in starts]
    if not all(isinstance(each, dict) and {"me", "size"} <= each.keys() for each in seen):
        return []
    found = (key for each in seen for key, part in each.items() if key != "me" and _cells(part))
    return list(dict.fromkeys(found))


def _cells(part: Any) -> bool:
    """Whether the part is a cell (at least two integers, the first a row, the second a column) or a list of cells."""
    if not isinstance(part, list | tuple) or not part:
        return False
    if all(isinstance(number, int) for number in part):
        return len(part) >= 2
    return all(each is None or _cells(each) for each in part) and any(part)
