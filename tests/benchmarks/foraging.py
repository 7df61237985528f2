"""Level-based foraging here and in the package lbforaging: the same 1,000 random episodes in both.

Prints the number of episodes in which all states, observations, payoffs and ends are equal; the rounds per second of
both, including the observations of all seats; and the mean number of rounds of the optimum over all starts of the
default grid.

    python -m tests.benchmarks.foraging [--json FILE] [--episodes N] [--no-optimum]
"""

import argparse
import json
import time
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

from tournament.games.level_based_foraging import Cell, Piece, State

from tests.games.foraging_episodes import (
    Episode,
    build,
    differences,
    package_env,
    package_episode,
    state_of,
)
from tournament.seeds import Tape
from tournament.theory.foraging import optimal_steps

SIZE = 5


def main() -> None:
    options = _options()
    episodes = [package_episode(seed) for seed in range(options.episodes)]
    agreeing = sum(not any(differences(episode)) for episode in episodes)
    rounds = sum(len(episode["joints"]) for episode in episodes)
    results: dict[str, Any] = {"episodes": len(episodes), "rounds": rounds, "agreeing": agreeing}
    print(f"{agreeing:,} of {len(episodes):,} episodes are the same in all of {rounds:,} rounds")
    for name, replay in (("lbforaging", replay_there), ("here", replay_here)):
        results[name] = rounds / sum(replay(seed, episodes[seed]) for seed in range(len(episodes)))
        print(f"{name}: {results[name]:,.0f} rounds/s")
    if options.optimum:
        mean = mean_optimum()
        results["optimum"] = float(mean)
        print(f"optimum: {mean} = {float(mean):.4f} rounds on average over all starts")
        print(
            f"by 1 - 0.2 n that is {1 - 0.2 * mean:.4f}, by 1 - 0.1 (n - 1) {1.1 - 0.1 * mean:.4f}"
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--episodes", type=int, default=1000, metavar="N")
    parser.add_argument("--optimum", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def replay_there(seed: int, episode: Episode) -> float:
    """Return the seconds that the rounds of an episode take in the package."""
    env = package_env(**episode["parameters"])
    env.reset(seed=seed)
    began = time.perf_counter()
    for joint in episode["joints"]:
        env.step(joint)
    return time.perf_counter() - began


def replay_here(_seed: int, episode: Episode) -> float:
    """Return the seconds that the rounds of an episode take here."""
    game = build(**episode["parameters"])
    state, tape = state_of(game, episode["states"][0]), Tape("undrawn")
    began = time.perf_counter()
    for joint in episode["joints"]:
        state, _ = game.step(state, joint, tape)
        for seat in range(game.seats):
            game.observe(state, seat)
    return time.perf_counter() - began


def mean_optimum() -> Fraction:
    """Return the mean of `optimal_steps` over all starts of the default grid."""
    cells = list(product(range(SIZE), repeat=2))
    pairs = list(permutations(cells, 2))
    return sum((_mean_from(one, two) for one, two in pairs), Fraction()) / len(pairs)


def _mean_from(one: Cell, two: Cell) -> Fraction:
    """Return the mean for players in these cells. Foods are placed one after another, in all possible cells alike."""
    inside = [cell for cell in product(range(1, SIZE - 1), repeat=2) if cell not in (one, two)]
    means = []
    for first in inside:
        second = [c for c in inside if (c[0] - first[0]) ** 2 + (c[1] - first[1]) ** 2 > 4]
        foods = [(first, other) for other in second] or [(first,)]
        steps = [_steps(*sorted((one, two)), tuple(sorted(food))) for food in foods]
        means.append(Fraction(sum(steps), len(steps)))
    return sum(means, Fraction()) / len(means)


@cache
def _steps(one: Cell, two: Cell, foods: tuple[Cell, ...]) -> int:
    players = Piece(*one, 1), Piece(*two, 1)
    return optimal_steps(State(SIZE, players, tuple(Piece(*f, 2) for f in foods), 2 * len(foods)))


if __name__ == "__main__":
    main()
