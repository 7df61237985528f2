"""Programs that walk on a grid, for games whose moves are directions and whose observations name cells.

Each program walks to one of the cells that certain parts of the observation name, by the plan with the fewest steps.
It either steps on that cell alone, or makes a certain move beside it, alone or together with other players. The
parameters are: which parts name targets, which part names the other players, whether the players' steps are summed or
the most of them counts, whether the distance to the next target counts, which move is made beside a target, and
whether opposite edges of the grid are joined.
"""

import itertools
from collections.abc import Iterator
from importlib import resources
from string import Template
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

SOURCE = Template((resources.files("tournament.evolve") / "walker.template").read_text("utf-8"))
"""The text of a program, with the parameters as `$NAME`."""


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
        for beside, players in _manners(others, [each for each in parts if each not in targets]):
            shared = {"targets": targets, "players": players, "beside": repr(beside), "ways": ways}
            joins = ("sum", "max") if players else ("sum",)
            for join, ahead, joined in itertools.product(joins, (0, 1), (False, True)):
                source = SOURCE.substitute(shared, join=join, ahead=ahead, joined=joined)
                yield Program("walker", source)


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
