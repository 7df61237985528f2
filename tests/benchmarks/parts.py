"""Measures the cost of recording, audit and strict play in the race, and plays a hundred thousand one-shot matches.

python tests/benchmarks/parts.py [--workers N] [--runs N]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import race

from tournament.engine import run
from tournament.library import Entrants, find_bots
from tournament.store import Record

BOTS = 446
"""So many meet each other and themselves in 99,681 matches."""
TEMPLATES = (
    "def act(view):\n    return 'C'  # {n}\n",
    "def act(view):\n    return 'D'  # {n}\n",
    "def act(view):\n    return 'C' if view.rng.random() < {n} / 500 else 'D'\n",
    "def act(view):\n    return 'C' if len(view.them.source) % ({n} + 1) else 'D'\n",
    "class Bot:\n    def act(self, view):\n        return 'CD'[view.rng.random() < {n} / 500]\n",
)


@contextmanager
def replaced(owner: Any, name: str, instead: Any) -> Iterator[None]:
    """Replace an attribute for the duration of the block."""
    before = getattr(owner, name)
    setattr(owner, name, instead)
    try:
        yield
    finally:
        setattr(owner, name, before)


CONTENDERS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "as it is": nullcontext,
    "without recording": lambda: replaced(Record, "append", lambda *matches: None),
    "without the audit": lambda: replaced(
        run, "players_to_check", lambda plan, seed: [[]] * len(plan)
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    options = parser.parse_args()
    report_race(options.workers, options.runs)
    report_one_shot(options.workers)


def report_race(workers: int, runs: int) -> None:
    """Print the cost of each part from medians. Strict play is timed once."""
    entrants = find_bots([race.BOTS])
    race.engine_race(entrants, workers)  # compiles the image if necessary
    times: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for _ in range(runs):
        for name, part_left_out in CONTENDERS.items():
            with part_left_out():
                times[name].append(seconds(entrants, workers))
    strict = seconds(entrants, workers, strict=True)
    whole = statistics.median(times["as it is"])
    print(f"the race, workers {workers}, medians of {runs} runs: {whole:.2f} s; shares run by run")
    for part in ("recording", "the audit"):
        both = zip(times["as it is"], times[f"without {part}"], strict=True)
        share = statistics.median(1 - without / with_it for with_it, without in both)
        print(f"  {part:10} {share:6.1%}    (at most 10 % wanted)")
    print(f"  {'--strict':10} {strict / whole:6.1f} x  (at most 15 x wanted)")


def seconds(entrants: Entrants, workers: int, strict: bool = False) -> float:
    """Return how many seconds the race takes."""
    began = time.perf_counter()
    race.engine_race(entrants, workers, strict)
    return time.perf_counter() - began


def report_one_shot(workers: int) -> None:
    """Print the time of the command that plays the one-shot matches, and the most memory that its process used."""
    with tempfile.TemporaryDirectory() as folder:
        for n in range(BOTS):
            source = TEMPLATES[n % len(TEMPLATES)].format(n=n)
            Path(folder, f"bot_{n:03}.py").write_text(source)
        options = ["--rounds", "1", "--reps", "1", "--workers", str(workers), "--db", "one.duckdb"]
        command = [sys.executable, "-m", "tournament", "run", "--pop", ".", *options]
        began = time.perf_counter()
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            peak = watched(process)
        took = time.perf_counter() - began
    print(f"99,681 one-shot matches of {BOTS} bots: {took:.1f} s (under 120 s wanted)")
    print(f"  the most memory of the parent: {peak} MiB (under 1,024 MiB wanted)")


def watched(process: "subprocess.Popen[bytes]") -> int:
    """Wait for a process to end; return the most memory that it used, in MiB."""
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        held = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        peak = max([peak, *(int(kilobytes) >> 10 for kilobytes in held)])
        time.sleep(0.05)
    return peak


if __name__ == "__main__":
    main()
