"""Measures proofs and simulations on one worker, and prints each time beside its target.

    python tests/benchmarks/powers.py [--json FILE] [--runs N] [--field]

The pair is two PrudentBots in a batch of their own. The matrix is every ordered pair of 22 modal bots. A move with one
simulation is measured in one batch of 200 matches between a program that simulates its opponent once and one that plays
at random. The same without a target has 20 opponents that neither ask nor draw, 10 times each, which makes 41
instances. `--field` also measures the matches of `tournament run` without a record: first the lineups in which nobody
simulates, then the others.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tournament.engine.run import Contest, Results, planned, play_all, play_batch, workers
from tournament.engine.schedule import round_robin
from tournament.game import Setting
from tournament.library import load_bot, load_game, packaged_sources
from tournament.match import Fixture
from tournament.program import Program
from tournament.sandbox.image import prepare
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool

MODAL = [
    *("always_cooperate", "always_defect", "fair_bot", "fair_bot_1", "fair_bot_2"),
    *("prudent_bot", "prudent_bot_2", "prudent_bot_5", "imprudent_bot", "just_bot", "nice_bot"),
    *("troll_bot", "magic_bot", "wait_fair_bot_1", "wait_fair_bot_2", "wait_fair_bot_3"),
    *("reverse_fair_bot", "tough_but_fair", "hobson_bot", "cupod", "cimcic", "dimcid"),
]
SETTING = Setting(load_game("prisoners_dilemma"))
WIDE = 200
REPETITIONS = 10
TARGETS = {"pair": 0.150, "matrix": 20.0, "simulation": 0.001}
NAMES = {
    "pair": "a PrudentBot pair",
    "matrix": "the 22 x 22 matrix",
    "simulation": f"a move with one simulation, {WIDE} at a time",
    "repeated": f"the same with 20 opponents, {REPETITIONS} times each",
}


def main() -> None:
    """Print the measured times."""
    options = _options()
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(workers(prepare(print), 1, Limits())) as pool,
    ):
        figures = _figures(portal, pool)
        figures[
            "simulation"
        ]()  # the first batch of a worker also does the work that later batches share
        measured = {
            name: [figure() for _ in range(options.runs)] for name, figure in figures.items()
        }
        if options.field:
            for label, seconds in portal.call(_field, pool).items():
                print(f"{label:44} {seconds:10.2f} s")
    for name, seconds in measured.items():
        target = f", target {1e3 * TARGETS[name]:.0f}" if name in TARGETS else ""
        print(
            f"{NAMES[name]:44} {1e3 * statistics.median(seconds):10.2f} ms"
            f"   (least {1e3 * min(seconds):.2f}{target})"
        )
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1))


def _figures(portal: BlockingPortal, pool: Pool) -> dict[str, Callable[[], float]]:
    """Return by name the functions that measure, each of which returns seconds."""

    def seconds(pairs: Sequence[tuple[Program, Program]]) -> float:
        fixtures = [Fixture((x.digest, y.digest), n) for n, (x, y) in enumerate(pairs)]
        programs = {program.digest: program for pair in pairs for program in pair}
        contest = Contest(SETTING, 0, programs)
        began = time.perf_counter()
        portal.call(play_batch, contest, contest.batch(fixtures, ()), fixtures, pool)
        return time.perf_counter() - began

    prudent, mirror, chance = map(load_bot, ("prudent_bot", "mirror", "random"))
    bots = [*map(load_bot, MODAL)]
    modal = [(x, y) for x in bots for y in bots]
    plain = [
        b for b in _field_of_bots() if not (b.may_draw or b.may_simulate or "proves" in b.source)
    ]
    repeated = [(mirror, bot) for bot in plain[: WIDE // REPETITIONS]] * REPETITIONS
    return {
        "pair": lambda: seconds([(prudent, prudent)]),
        "matrix": lambda: seconds(modal),
        "simulation": lambda: seconds([(mirror, chance)] * WIDE) / WIDE,
        "repeated": lambda: seconds(repeated) / WIDE,
    }


def _field_of_bots() -> list[Program]:
    """Return the bots of the package that play the one-shot prisoner's dilemma."""
    return [bot for bot in map(load_bot, sorted(packaged_sources())) if bot.fits(SETTING)]


async def _field(pool: Pool) -> dict[str, float]:
    """Return the seconds that the matches of all these bots take, by group."""
    contest = Contest(SETTING, 0, {bot.digest: bot for bot in _field_of_bots()})
    fixtures = round_robin(SETTING, [*contest.programs], REPETITIONS)
    seconds = {}
    for label, simulates in (("all that do not simulate", False), ("all that do", True)):
        some = [each for each in fixtures if contest.may_simulate(each) == simulates]
        send, receive = anyio.create_memory_object_stream[Results](len(fixtures))
        began = time.perf_counter()
        async with receive:
            await play_all(contest, planned(contest, some, pool.count), pool, send)
        seconds[label] = time.perf_counter() - began
    return seconds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--field", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
