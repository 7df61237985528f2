"""The race: 20 bots equal to strategies of the axelrod library, 200 rounds, 10 repetitions, self-play included.

Prints joint moves per second of this engine with one worker and with two, of axelrod's serial play, and of a bare loop
that calls the same 20 functions in this process without isolation; and the number of deterministic matches with equal
scores in this engine and in axelrod. Starting the engine and recording are included, importing either library is not.

    python tests/benchmarks/race.py [--json FILE] [--runs N]
"""

import argparse
import gc
import json
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio

from tournament.engine.run import Contest
from tournament.game import Repetition, Setting
from tournament.library import Entrants, find_bots, load_game
from tournament.runs.session import SessionSettings, open_sessions, select_participants
from tournament.seeds import Tape, tape_name
from tournament.store import Record

HERE = Path(__file__).parent
BOTS = HERE / "race_bots"
EQUALS: dict[str, Any] = json.loads((BOTS / "EQUALS.json").read_text())
ROUNDS, REPETITIONS, SEED = 200, 10, 1
SCORES = """
    select list(name order by seat), list(payoff order by seat)
    from seats join programs using (program) group by match order by match
"""
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
    results: dict[str, Any] = {}
    import axelrod  # noqa: F401 - the import takes longer than the race and must not count

    engine_race(entrants, 1)  # compiles the image if necessary
    gc.collect()
    gc.freeze()  # otherwise the imports of one contender would slow the garbage collection of the others
    for _ in range(options.runs):
        for name, race in contenders.items():
            began = time.perf_counter()
            results[name] = race()
            times[name].append(time.perf_counter() - began)
    report(times, same_scores(results["engine, 1 worker"]), options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    return parser.parse_args()


def turns() -> int:
    """Return the number of joint moves in one race."""
    pairs = len(EQUALS) * (len(EQUALS) + 1) // 2
    return pairs * REPETITIONS * ROUNDS


def axelrod_race() -> None:
    """Play the tournament with axelrod in one process."""
    import axelrod

    tournament = axelrod.Tournament(
        [axelrod_player(name) for name in sorted(EQUALS)],
        turns=ROUNDS,
        repetitions=REPETITIONS,
        seed=SEED,
    )
    tournament.play(processes=None, progress_bar=False)


def axelrod_player(name: str) -> Any:
    """Return the axelrod strategy that a race bot is equal to."""
    import axelrod

    strategy, options, _ = EQUALS[name]
    return getattr(axelrod, strategy)(**options)


def engine_race(entrants: Entrants, workers: int, strict: bool = False) -> Path:
    """Play the tournament with this engine; return the path of the record."""
    path = Path(tempfile.mkdtemp()) / "race.duckdb"
    setting = Setting(load_game("prisoners_dilemma"), Repetition(rounds=ROUNDS))
    programs = {program.digest: program for program in entrants.programs}
    contest = Contest(setting, SEED, programs, strict=strict)
    lineup = select_participants(setting, entrants)

    async def run_session() -> None:
        table = SessionSettings(contest, lineup, REPETITIONS)
        async with open_sessions(path, [table], workers, print) as [session]:
            await session.play(lambda *_: None)

    anyio.run(run_session)
    return path


def bare_race(entrants: Entrants) -> None:
    """Play the tournament in this process without isolation, with the smallest possible view."""
    codes = {p.name: compile(p.source, p.name, "exec") for p in entrants.programs}
    for mine, theirs in combinations_with_replacement(sorted(codes), 2):
        for repetition in range(REPETITIONS):
            bare_match(codes[mine], codes[theirs], f"{mine}/{theirs}/{repetition}")


def bare_match(first: Any, second: Any, name: str) -> tuple[int, int]:
    """Play a match of bare functions; return both scores."""
    ours, theirs = bare_seat(first, 0, name), bare_seat(second, 1, name)
    scores = [0, 0]
    for _ in range(ROUNDS):
        a, b = ours.act(ours), theirs.act(theirs)
        ours.mine.append(a), ours.theirs.append(b)
        theirs.mine.append(b), theirs.theirs.append(a)
        paid = PAYOFFS[a, b]
        scores[0] += paid[0]
        scores[1] += paid[1]
    return scores[0], scores[1]


def bare_seat(code: Any, seat: int, name: str) -> SimpleNamespace:
    """Return the view of a seat for one match, and the function that moves."""
    namespace: dict[str, Any] = {"__name__": "bot"}
    exec(code, namespace)
    payoffs = {joint: tuple(map(float, paid)) for joint, paid in PAYOFFS.items()}
    game = SimpleNamespace(rounds=ROUNDS, payoffs=payoffs, parameters={}, name="prisoners_dilemma")
    act = namespace["act"] if "act" in namespace else namespace["Bot"]().act
    tape = Tape(tape_name(name, seat))
    return SimpleNamespace(
        act=act, mine=[], theirs=[], legal=("C", "D"), seat=seat, game=game, rng=tape, shared=tape
    )


def same_scores(path: Path) -> tuple[int, int]:
    """Return how many deterministic matches on record have axelrod's scores, and how many there are."""
    import axelrod

    deterministic = {name for name, (_, _, certain) in EQUALS.items() if certain}
    with Record.read(path) as record:
        _, rows = record.sql(SCORES)
    same = total = 0
    for bots, scores in rows:
        if deterministic.issuperset(bots):
            match = axelrod.Match([axelrod_player(name) for name in bots], turns=ROUNDS)
            match.play()
            total += 1
            same += tuple(match.final_score()) == tuple(scores)
    return same, total


def report(
    times: dict[str, list[float]], same: tuple[int, int], options: argparse.Namespace
) -> None:
    """Print the table, and write the ratios to the file that was asked for."""
    median = {name: statistics.median(each) for name, each in times.items()}
    ratio = {
        name: statistics.median(
            theirs / ours for theirs, ours in zip(times["axelrod, serial"], each, strict=True)
        )
        for name, each in times.items()
    }
    print(f"{turns():,} turns, {options.runs} runs, medians; ratios run by run")
    for name in times:
        rate = turns() / median[name]
        print(
            f"  {name:20} {median[name]:7.2f} s {rate:10,.0f} turns/s {ratio[name]:6.2f} x axelrod"
        )
    print(f"scores of deterministic matches that are identical: {same[0]} of {same[1]}")
    if options.json:
        found = {
            "ratio_1": ratio["engine, 1 worker"],
            "ratio_2": ratio["engine, 2 workers"],
            "bare": ratio["bare loop"],
            "seconds": median,
            "identical": same[0],
            "deterministic": same[1],
        }
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
