"""Level-based foraging: food on a grid is lifted by those beside it who are strong enough together.

Players and food have levels. All players move at once: "none", a step "north" (to row 0), "south",
"west" (to column 0) or "east", or "load". A step out of the grid or onto food is none. Players who
would be in the same cell all stay where they are, and two may change places. Those who load beside
the same food add up their levels, and if these come to the food's, it is gone and they are paid

        own level * food's level / (sum of their levels * sum of the levels of all food)

so that all the food pays 1 in total. If not, each of them pays `load_penalty`. Every player pays
`step_cost` for every round, until no food is left or `horizon` rounds are played.

Players start anywhere, with levels from 1 to `max_player_level`. Food lies off the edge, and never
within two cells of other food: on the smallest grid one episode in nine has but one. With
`cooperative`, a food's level is the sum of the three lowest levels of players, or of both if there
are two, and else it is from 1 to that. With `sight`, players see so many cells in each direction.

A seat observes {"size", "step", "me": [row, column, level], "others": the same by seat, from the
next one on, or None where out of sight, "foods": the same, by row and column}.

The rules are those of the package lbforaging 2.0.0 (F. Christianos, L. Schäfer and S. V. Albrecht,
"Shared experience actor-critic for multi-agent reinforcement learning", NeurIPS 2020; the game is
of S. V. Albrecht and S. Ramamoorthy, AAMAS 2013), which has no cost of steps. The defaults are the
setting of Y. Lin et al., "Policy-Conditioned Policies for Multi-Agent Task Solving",
arXiv:2512.21024, 2025 (PIBR), as far as its figure tells: 5 by 5, 2 players, 2 foods, cooperative,
50 rounds, and a welfare of 1 - 0.2 n for all food in n rounds. By that account the best joint play
has a mean of -0.082 over all starts (3,000 of them had -0.088; `tournament.theory.foraging` finds it
for each). The figure's own line, 0.554, is no such mean: 1 - 0.1 (n - 1) has 0.559.
"""

from collections import Counter
from typing import NamedTuple

from tournament.errors import ParameterError
from tournament.game import Joint, Observation, Payoffs, StateGame, check_finite, check_whole
from tournament.seeds import Tape

NAME = "level_based_foraging"
MOVES = ("none", "north", "south", "west", "east", "load")
LOAD = MOVES.index("load")
WAYS = {1: (-1, 0), 2: (1, 0), 3: (0, -1), 4: (0, 1)}
MOST_TRIES = 1000
"""How often a cell for food is drawn before what there is must do."""

Cell = tuple[int, int]


class Piece(NamedTuple):
    """A player or food."""

    row: int
    column: int
    level: int


class State(NamedTuple):
    """Players are in seat order, and `spawned` is the sum of the levels of all food there ever was."""

    size: int
    players: tuple[Piece, ...]
    foods: tuple[Piece, ...]
    spawned: int
    step: int = 0


def game(
    *,
    size: int = 5,
    players: int = 2,
    foods: int = 2,
    max_player_level: int = 2,
    cooperative: bool = True,
    sight: int = 0,
    load_penalty: float = 0.0,
    horizon: int = 50,
    step_cost: float = 0.1,
) -> StateGame:
    """The game on a grid of that size; sight 0 is all of it. Raises `ParameterError`."""
    check_whole(NAME, "size", size, 5, 20)
    check_whole(NAME, "players", players, 2, 8)
    check_whole(NAME, "foods", foods, 1, 9)
    check_whole(NAME, "max_player_level", max_player_level, 1, 9)
    check_whole(NAME, "sight", sight, 0, size)
    check_whole(NAME, "horizon", horizon, 1, 10_000)
    for parameter, cost in {"load_penalty": load_penalty, "step_cost": step_cost}.items():
        check_finite(NAME, parameter, cost)
        if cost < 0:
            raise ParameterError(NAME, parameter, f"is {cost:g}, and must not be less than 0")

    def start(tape: Tape) -> State:
        placed = _place_players(tape, size, players, max_player_level)
        strength = sum(sorted(player.level for player in placed)[:3])
        least = strength if cooperative else 1
        laid = _place_foods(tape, size, foods, (least, strength), placed)
        return State(size, placed, laid, sum(food.level for food in laid))

    def step(state: State, joint: Joint, tape: Tape) -> tuple[State, Payoffs]:
        paid = [0.0 - step_cost] * players
        left = []
        for food in state.foods:
            loaders = [
                seat
                for seat, player in enumerate(state.players)
                if joint[seat] == LOAD and _beside(player, food)
            ]
            strength = sum(state.players[seat].level for seat in loaders)
            if strength < food.level:
                left.append(food)
            for seat in loaders:
                share = state.players[seat].level * food.level / (strength * state.spawned)
                paid[seat] += share if strength >= food.level else -load_penalty
        moved = _moved(state, joint)
        return state._replace(players=moved, foods=tuple(left), step=state.step + 1), tuple(paid)

    return StateGame(
        name=NAME,
        moves=(MOVES,) * players,
        start=start,
        observe=lambda state, seat: _observed(state, seat, sight or size),
        step=step,
        over=lambda state: not state.foods or state.step >= horizon,
        most_rounds=horizon,
        worst=(0.0 - step_cost - load_penalty,) * players,
        parameters={
            "size": size,
            "players": players,
            "foods": foods,
            "max_player_level": max_player_level,
            "cooperative": cooperative,
            "sight": sight,
            "load_penalty": load_penalty,
            "horizon": horizon,
            "step_cost": step_cost,
        },
    )


def _place_players(tape: Tape, size: int, players: int, most: int) -> tuple[Piece, ...]:
    """Players in different cells, drawn until they are."""
    placed: dict[Cell, Piece] = {}
    while len(placed) < players:
        row, column = tape.randrange(size), tape.randrange(size)
        if (row, column) not in placed:
            placed[row, column] = Piece(row, column, tape.randint(1, most))
    return tuple(placed.values())


def _place_foods(
    tape: Tape, size: int, foods: int, levels: tuple[int, int], players: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """Food with levels in this range, as much of it as finds a place, by row and column."""
    taken = {(player.row, player.column) for player in players}
    laid: list[Piece] = []
    for _ in range(MOST_TRIES):
        if len(laid) == foods:
            break
        row, column = tape.randrange(1, size - 1), tape.randrange(1, size - 1)
        near = any((row - f.row) ** 2 + (column - f.column) ** 2 <= 4 for f in laid)
        if not near and (row, column) not in taken:
            laid.append(Piece(row, column, tape.randint(*levels)))
    return tuple(sorted(laid))


def _beside(one: Piece, other: Piece) -> bool:
    return abs(one.row - other.row) + abs(one.column - other.column) == 1


def _moved(state: State, joint: Joint) -> tuple[Piece, ...]:
    """The players where their moves take them; those who would meet stay where they are."""
    foods = {(food.row, food.column) for food in state.foods}
    aims = [
        _aim(player, WAYS.get(move, (0, 0)), state.size, foods)
        for player, move in zip(state.players, joint, strict=True)
    ]
    wanted = Counter(aims)
    return tuple(
        Piece(*aim, player.level) if wanted[aim] == 1 else player
        for player, aim in zip(state.players, aims, strict=True)
    )


def _aim(player: Piece, way: Cell, size: int, foods: set[Cell]) -> Cell:
    """The cell that a step leads to: the player's own if there is none or food in it."""
    row, column = player.row + way[0], player.column + way[1]
    free = 0 <= row < size and 0 <= column < size and (row, column) not in foods
    return (row, column) if free else (player.row, player.column)


def _observed(state: State, seat: int, sight: int) -> Observation:
    me = state.players[seat]
    top, left = max(0, me.row - sight), max(0, me.column - sight)

    def seen(piece: Piece, bottom: int, right: int) -> bool:
        return top <= piece.row <= bottom and left <= piece.column <= right

    # Near the top and the left edge the package lets players be seen as far as if the window were whole.
    others = state.players[seat + 1 :] + state.players[:seat]
    return {
        "size": state.size,
        "step": state.step,
        "me": [*me],
        "others": [[*o] if seen(o, top + 2 * sight, left + 2 * sight) else None for o in others],
        "foods": [[*f] for f in state.foods if seen(f, me.row + sight, me.column + sight)],
    }
