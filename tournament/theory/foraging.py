"""Level-based foraging for two players: how soon all food can be gathered if they act as one.

Found by breadth-first search over where both are and what food is left, with the rules of
`games/level_based_foraging.py`. On its default grid these are some 2,000 places at most, which
takes milliseconds; on one of 20 by 20 they are half a million, which takes half a minute.

"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from typing import Protocol

Cell = tuple[int, int]
Piece = tuple[int, int, int]
"""A player or food: its row, column and level."""
Foods = tuple[Piece, ...]
Place = tuple[Cell, Cell, Foods]
"""Where the two players are, and what food is left."""

MEAN_STEPS = Fraction(122671, 22680)
"""The mean of `optimal_steps` over all starts of the default grid, which are equally likely: 5.409 rounds."""


class Board(Protocol):
    """What a state of the game has. `spawned` is the sum of the levels of all food there ever was."""

    @property
    def size(self) -> int: ...

    @property
    def players(self) -> tuple[Piece, ...]: ...

    @property
    def foods(self) -> Foods: ...

    @property
    def spawned(self) -> int: ...


def optimal_steps(board: Board) -> int:
    """The fewest rounds in which two players can gather all the food that is left."""
    return next(rounds for rounds, least in enumerate(_least_left(board)) if not least)


def optimal_welfare(board: Board, step_cost: float = 0.1, horizon: int = 50) -> float:
    """The most that two players can be paid together from here on, with so many rounds to go.

    Food pays its part of 1, and every round until it is gone costs each of them `step_cost`.
    """
    course = list(islice(_least_left(board), horizon + 1))
    gathered = course[0] - course[-1]
    return gathered / board.spawned - 2 * step_cost * (len(course) - 1)


def _least_left(board: Board) -> Iterator[int]:
    """The least that the levels of the food left can add up to after 0, 1, 2, ... rounds."""
    one, two = board.players
    front: set[Place] = {(one[:2], two[:2], board.foods)}
    known: set[Place] = set()
    least = sum(level for _, _, level in board.foods)
    while front:
        least = min(least, *(sum(level for _, _, level in foods) for _, _, foods in front))
        yield least
        if not least:
            break
        known |= front
        front = {after for place in front for after in _after(board, place)} - known


def _after(board: Board, place: Place) -> Iterator[Place]:
    """Where a round can lead. Whoever stays beside food loads: to wait there is never better."""
    one, two, foods = place
    walls = {(row, column) for row, column, _ in foods}
    levels = [player[2] for player in board.players]
    helps = [(levels[0] * _beside(one, food), levels[1] * _beside(two, food)) for food in foods]
    left = {
        (x, y): tuple(f for f, (a, b) in zip(foods, helps, strict=True) if a * x + b * y < f[2])
        for x, y in product((False, True), repeat=2)
    }
    for first in _reach(board.size, one, walls):
        for second in _reach(board.size, two, walls):
            if first != second:
                yield first, second, left[first == one, second == two]


def _reach(size: int, cell: Cell, walls: set[Cell]) -> list[Cell]:
    """The cell itself, and those that a step leads to."""
    row, column = cell
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [cell, *(c for c in around if c not in walls and min(c) >= 0 and max(c) < size)]


def _beside(cell: Cell, food: Piece) -> bool:
    return abs(cell[0] - food[0]) + abs(cell[1] - food[1]) == 1
