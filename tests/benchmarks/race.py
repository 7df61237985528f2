"""The race: 20 bots equal to strategies of the axelrod library, 200 rounds, 10 repetitions, self-play included.

Prints turns per second (a turn is a joint move) of this engine with one worker and two, of axelrod's serial play, and
of a bare loop that calls the same 20 functions in this process without isolation; and how many deterministic matches
scored the same in both. Engine start and recording are included; importing either library is not.

    python tests/benchmarks/race.py [--json FILE] [--runs N]
"""

import argparse
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from types import SimpleNamespace

import anyio

from tournament.engine.run import Contest
from tournament.game import Repetition, Setting
from tournament.library import Entrants, find_bots, load_game
from tournament.seeds import Tape, tape_name
from tournament.sitting import Sitting, line_up
from tournament.store import Record

HERE = Path(__file__).parent
BOTS = HERE / "race_bots"
EQUALS: dict[str, list] = json.loads((BOTS / "EQUALS.json").read_text())
ROUNDS, REPETITIONS, SEED = 200, 10, 1
PAYOFFS = {("C", "C"): (3, 3), ("C", "D"): (0, 5), ("D", "C"): (5, 0), ("D", "D"): (1, 1)}


def main() -> None:
    options = _options()
    entrants = find_bots([BOTS])
    contenders: dict[str, Callable[[], object]] = {
        "axelrod, serial": axelrod_race,
        "engine, 1 worker": lambda: engine_race(entrants, 1),
        "engine, 2 workers": lambda: engine_race(entrants, 2),
        "bare loop": lambda: bare_race(entrants),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    results = {}
    engine_race(entrants, 1)  # compiles the image where that has not been done
    for _ in range(options.runs):
        for name, race in contenders.items():
            began = time.perf_counter()
            results[name] = race()
            times[name].append(time.perf_counter() - began)
    report(times, same_scores(results["axelrod, serial"], results["engine, 1 worker"]), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    return parser.parse_args()


def turns() -> int:
    """Joint moves in one race."""
    pairs = len(EQUALS) * (len(EQUALS) + 1) // 2
    return pairs * REPETITIONS * ROUNDS


def axelrod_race() -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Scores of every match by pair of names, in order of repetitions."""
    import axelrod

    names = sorted(EQUALS)
    players = [getattr(axelrod, EQUALS[name][0])(**EQUALS[name][1]) for name in names]
    tournament = axelrod.Tournament(players, turns=ROUNDS, repetitions=REPETITIONS, seed=SEED)
    results = tournament.play(processes=None, progress_bar=False)
    return {
        (names[i], names[j]): [
            (results.scores_of(i, j, r), results.scores_of(j, i, r)) for r in range(REPETITIONS)
        ]
        if False
        else _axelrod_scores(results, i, j)
        for i, j in combinations_with_replacement(range(len(names)), 2)
    }


def engine_race(entrants: Entrants, workers: int) -> Path:
    """The record of a whole sitting."""
    path = Path(tempfile.mkdtemp()) / "race.duckdb"
    setting = Setting(load_game("prisoners_dilemma"), Repetition(rounds=ROUNDS))
    programs = {program.digest: program for program in entrants.programs}
    contest = Contest(setting, SEED, programs)
    lineup = line_up(lambda program: program.fits(setting), entrants, setting.game.name)
    with Record.open(path) as record:
        sitting = Sitting(record, contest, lineup, REPETITIONS)
        anyio.run(sitting.hold, workers, print, lambda outcomes: None)
    return path


if __name__ == "__main__":
    main()
