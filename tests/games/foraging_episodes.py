"""Episodes of level-based foraging from the package lbforaging, and a comparison with the game here.

An episode is JSON-ready. It has the game's parameters and the joint moves; and for the start and after every round the
grid, the observations of all seats, the payoffs of the round, and whether the episode is over.

    python -m tests.games.foraging_episodes     # records the sample in tests/data anew
"""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tournament.games import level_based_foraging
from tournament.games.level_based_foraging import LOAD, WAYS, Piece, State

from tournament.game import StateGame
from tournament.seeds import Tape

SAMPLE = Path(__file__).parents[1] / "data" / "lbf_episodes.json.gz"
EPISODES_IN_SAMPLE = 60

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"foods": 1},
    {"cooperative": False},
    {"cooperative": False, "load_penalty": 0.1, "max_player_level": 3},
    {"size": 6, "sight": 2},
    {"size": 8, "players": 3, "foods": 3, "load_penalty": 0.1},
    {"size": 8, "players": 4, "foods": 4, "cooperative": False, "sight": 2},
    {"players": 4, "foods": 2, "sight": 1},
    {"players": 8, "foods": 1, "cooperative": False, "horizon": 25},
)

Episode = dict[str, Any]


def build(**parameters: Any) -> StateGame:
    """Return the game with a step cost of zero, because the package has no such cost."""
    return level_based_foraging.game(**{"step_cost": 0.0} | parameters)


def parameters_of(episode: int) -> dict[str, Any]:
    """Return the setting of an episode: every other one has the paper's setting, and the rest take turns."""
    turn = episode // 2 % len(SETTINGS) if episode % 2 else 0
    return SETTINGS[turn]


def package_episode(seed: int) -> Episode:
    """Return the episode that the package plays from this seed. Needs lbforaging."""
    parameters = parameters_of(seed)
    env = package_env(**parameters)
    tape = random.Random(seed)
    observation, _ = env.reset(seed=seed)
    states, paid, over, joints = [_grid(env)], [], [], []
    observed = [_whole(observation)]
    while not over or not over[-1]:
        joints.append([_move(states[-1], player, tape) for player in states[-1][0]])
        observation, rewards, done, _, _ = env.step(joints[-1])
        states.append(_grid(env))
        observed.append(_whole(observation))
        paid.append([float(reward) for reward in rewards])
        over.append(bool(done))
    return {
        "parameters": parameters,
        "joints": joints,
        "states": states,
        "observed": observed,
        "paid": paid,
        "over": over,
    }


def package_env(**parameters: Any) -> Any:
    """Return the package's environment with these parameters of the game. Needs lbforaging."""
    from lbforaging.foraging import ForagingEnv

    values = dict(build(**parameters).parameters)
    size = values["size"]
    return ForagingEnv(
        players=values["players"],
        min_player_level=1,
        max_player_level=values["max_player_level"],
        min_food_level=1,
        max_food_level=None,
        field_size=(size, size),
        max_num_food=values["foods"],
        sight=values["sight"] or size,
        max_episode_steps=values["horizon"],
        force_coop=values["cooperative"],
        penalty=values["load_penalty"],
    )


def differences(episode: Episode) -> Iterator[str]:
    """Yield a short text for each difference between the game here and an episode of the package."""
    game = build(**episode["parameters"])
    state = state_of(game, episode["states"][0])
    for number, joint in enumerate(episode["joints"]):
        yield from _compared(game, state, episode, number)
        state, paid = game.step(state, tuple(joint), Tape("undrawn"))
        if list(paid) != episode["paid"][number]:
            yield f"round {number} pays {paid}, and {episode['paid'][number]} in the package"
        if game.over(state) != episode["over"][number]:
            yield f"round {number} is the last in one only"
    yield from _compared(game, state, episode, len(episode["joints"]))


def state_of(game: StateGame, grid: list[list[list[int]]]) -> State:
    """Return the first state with these players and foods."""
    players, foods = (tuple(Piece(*piece) for piece in pieces) for pieces in grid)
    size: Any = game.parameters["size"]
    return State(size, players, foods, sum(food.level for food in foods))


def _compared(game: StateGame, state: State, episode: Episode, number: int) -> Iterator[str]:
    grid = [[list(piece) for piece in pieces] for pieces in (state.players, state.foods)]
    if grid != episode["states"][number]:
        yield f"after {number} rounds the grid is {grid}, and {episode['states'][number]} there"
    observation = [as_package(game, game.observe(state, seat), seat) for seat in range(game.seats)]
    if observation != episode["observed"][number]:
        yield f"after {number} rounds {observation} is observed, and {episode['observed'][number]} there"


def as_package(game: StateGame, observation: dict[str, Any], seat: int) -> list[int]:
    """Return an observation in the package's form: foods, the own player, the others.

    Positions count from the corner of the visible part of the grid.
    """
    foods: Any = game.parameters["foods"]
    sight: Any = game.parameters["sight"] or game.parameters["size"]
    row, column, _ = observation["me"]
    top, left = max(0, row - sight), max(0, column - sight)
    # The package lists the others from the first seat on.
    turn = len(observation["others"]) - seat
    others = [
        other for other in observation["others"][turn:] + observation["others"][:turn] if other
    ]
    vector = []
    for pieces, most in ((observation["foods"], foods), ([observation["me"], *others], game.seats)):
        for r, c, level in pieces:
            vector += [r - top, c - left, level]
        vector += [-1, -1, 0] * (most - len(pieces))
    return vector


def _grid(env: Any) -> list[list[list[int]]]:
    players = [[*map(int, player.position), int(player.level)] for player in env.players]
    foods = [[int(r), int(c), int(env.field[r, c])] for r, c in np.argwhere(env.field)]
    return [players, foods]


def _whole(observation: Any) -> list[list[int]]:
    return [[int(value) for value in vector] for vector in observation]


def _move(grid: list[list[list[int]]], player: list[int], tape: random.Random) -> int:
    """Return a random move or, half of the time, one towards the nearest food, so that some food is lifted."""
    row, column, _ = player
    if tape.random() < 0.5 or not grid[1]:
        return tape.randrange(LOAD + 1)

    def distance(way: tuple[int, int]) -> int:
        return min(abs(row + way[0] - r) + abs(column + way[1] - c) for r, c, _ in grid[1])

    return LOAD if distance((0, 0)) == 1 else min(WAYS, key=lambda move: distance(WAYS[move]))


def read_sample() -> dict[str, Any]:
    """Return the recorded sample in tests/data, a dictionary with `source` and `episodes`."""
    with gzip.open(SAMPLE, "rt") as file:
        sample: dict[str, Any] = json.load(file)
    return sample


def main() -> None:
    import importlib.metadata

    sample = {
        "source": f"lbforaging {importlib.metadata.version('lbforaging')}"
        f" with numpy {importlib.metadata.version('numpy')}, by tests/games/foraging_episodes.py",
        "episodes": [package_episode(seed) for seed in range(EPISODES_IN_SAMPLE)],
    }
    text = json.dumps(sample, separators=(",", ":"))
    SAMPLE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
