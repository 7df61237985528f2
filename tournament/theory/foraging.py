"""Level-based foraging for two players: how soon they can gather all food if they cooperate.

The answer is found by a breadth-first search over the positions of both players and the food that
is left, with the rules of `games/level_based_foraging.py`. The default grid has at most about 2,000
such states, which takes milliseconds. A grid of 20 by 20 has half a million, which takes half a
minute.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from typing import Protocol

Cell = tuple[int, int]
Piece = tuple[int, int, int]
"""The row, column and level of a player or of a piece of food."""
Foods = tuple[Piece, ...]
State = tuple[Cell, Cell, Foods]
"""One state of the search: the cells of the two players, and the food that is left."""

MEAN_STEPS = Fraction(122671, 22680)
"""The mean of `optimal_steps` over all equally likely starts of the default grid: 5.409 rounds."""


class Start(Protocol):
    """The attributes that a state of the game must have.

    `spawned` is the sum of the levels of all food that lay on the grid at the start.
    """

    size: int
    players: tuple[Piece, ...]
    foods: Foods
    spawned: int


def optimal_steps(start: Start) -> int:
    """Return the fewest rounds in which the two players can gather all food that is left.

    Raises `ValueError` if they cannot gather it all.
    """
    *before, least = _least_left(start)
    if least:
        raise ValueError(f"food of level {least} is left, which the two players cannot gather")
    return len(before)


def optimal_welfare(start: Start, step_cost: float = 0.1, horizon: int = 50) -> float:
    """Return the highest total payoff of the two players from this state on, within `horizon` rounds.

    All food of the start pays 1 in total, and each piece pays in proportion to its level. Every
    round until all food is gone costs each player `step_cost`.
    """
    course = list(islice(_least_left(start), horizon + 1))
    gathered = course[0] - course[-1]
    # The search also ends early when no other state can be reached, but then every round is paid for.
    rounds = horizon if course[-1] else len(course) - 1
    return gathered / start.spawned - 2 * step_cost * rounds


def _least_left(start: Start) -> Iterator[int]:
    """Yield the least possible sum of the levels of the food left after 0, 1, 2, ... rounds, up to 0."""
    one, two = start.players
    front: set[State] = {(one[:2], two[:2], start.foods)}
    known: set[State] = set()
    least = sum(level for _, _, level in start.foods)
    while front:
        least = min(least, *(sum(level for _, _, level in foods) for _, _, foods in front))
        yield least
        if not least:
            break
        known |= front
        front = {after for state in front for after in _after(start, state)} - known


def _after(start: Start, state: State) -> Iterator[State]:
    """Yield the states that one round can lead to.

    A player who stays in a cell beside food is taken to load it, since waiting there is never better.
    """
    one, two, foods = state
    walls = {(row, column) for row, column, _ in foods}
    levels = [player[2] for player in start.players]
    helps = [(levels[0] * _beside(one, food), levels[1] * _beside(two, food)) for food in foods]
    left = {
        (x, y): tuple(f for f, (a, b) in zip(foods, helps, strict=True) if a * x + b * y < f[2])
        for x, y in product((False, True), repeat=2)
    }
    for first in _reach(start.size, one, walls):
        for second in _reach(start.size, two, walls):
            if first != second:
                yield first, second, left[first == one, second == two]


def _reach(size: int, cell: Cell, walls: set[Cell]) -> list[Cell]:
    """Return the cell itself and the cells that one step can reach from it."""
    row, column = cell
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [cell, *(c for c in around if c not in walls and min(c) >= 0 and max(c) < size)]


def _beside(cell: Cell, food: Piece) -> bool:
    """Whether the cell is directly north, south, west or east of the food."""
    return abs(cell[0] - food[0]) + abs(cell[1] - food[1]) == 1
