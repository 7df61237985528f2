"""A thousand calls, 200 at a time, to a server in another process that takes 100 ms for each.

Prints the seconds from the first call to the last answer beside the ideal (five times 100 ms), with every answer kept
durably before it is used; the seconds that it takes to start (imports, client, the first answer) are printed apart.
Then the same with trouble: every eighth request is turned away with 429, dropped before or in the middle of its
answer, or fails with 503; and how many calls were lost or answered twice.

    python tests/benchmarks/oracles.py [--json FILE] [--runs N] [--calls N] [--concurrency N] [--latency S]
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

SERVER = Path(__file__).parents[1] / "oracles" / "server.py"
ALLOWED = 1.15


def main() -> None:
    options = _options()
    ideal = options.latency * options.calls / options.concurrency
    results: dict[str, Any] = {"calls": options.calls, "ideal": ideal, "allowed": ALLOWED * ideal}
    for script in ("plain", "troubled"):
        runs = [measure(script, options) for _ in range(options.runs)]
        results[script] = runs
        took = [run["seconds"] for run in runs]
        print(
            f"{script}: {statistics.median(took):.3f} s (best {min(took):.3f}), "
            f"{min(took) / ideal:.2f} x the ideal of {ideal:g} s at best; "
            f"start-up {statistics.median(run['start'] for run in runs):.3f} s; "
            f"processor {statistics.median(run['processor'] for run in runs):.3f} s; "
            f"requests {runs[-1]['requests']}, lost {sum(run['lost'] for run in runs)}, "
            f"doubled {sum(run['doubled'] for run in runs)}"
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--calls", type=int, default=1000, metavar="N")
    parser.add_argument("--concurrency", type=int, default=200, metavar="N")
    parser.add_argument("--latency", type=float, default=0.1, metavar="S")
    return parser.parse_args()


@contextmanager
def server(script: str, latency: float) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, str(SERVER), script, str(latency)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            yield child.stdout.readline().strip()
        finally:
            child.stdin.close()


def measure(script: str, options: argparse.Namespace) -> dict[str, float]:
    """One run: what it took, and what became of the calls."""
    calls, concurrency = options.calls, options.concurrency
    with server(script, options.latency) as url, tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal.jsonl"
        result: dict[str, float] = anyio.run(ask_all, url, calls, concurrency, journal)
        tally = json.load(urllib.request.urlopen(url.removesuffix("/v1") + "/tally"))
        kept = [json.loads(line) for line in journal.read_text().splitlines()]
    good = {row["call"]["key"] for row in kept if row["answer"]["outcome"] == "ok"}
    return result | {
        "requests": tally["requests"],
        "lost": calls + 1 - len(good),
        "doubled": max(0, tally["most"] - 1)
        + len(kept)
        - len({row["call"]["key"] for row in kept}),
    }


async def ask_all(url: str, calls: int, concurrency: int, journal: Path) -> dict[str, float]:
    """Ask everything at once, and wait for the last answer."""
    began = time.perf_counter()
    from tournament.oracles.ledger import FileJournal
    from tournament.oracles.oracle import Call, Message
    from tournament.oracles.settings import Settings
    from tournament.oracles.spec import make_desk, make_oracle

    def call(number: int) -> Call:
        text = f"call {number}\n" + "def act(view):\n    return view.legal[0]\n" * 20
        return Call("write", (Message("user", text),), "digest", str(number))

    settings = Settings.load(
        base_url=url, api_key="sk-benchmark", concurrency=concurrency, retries=20
    )
    kept = FileJournal.open(journal)
    oracle = make_oracle("chat:scripted", make_desk(settings, kept))
    await oracle.ask(call(calls))
    started, processor = time.perf_counter(), time.process_time()
    async with anyio.create_task_group() as group:
        for number in range(calls):
            group.start_soon(oracle.ask, call(number))
    ended = time.perf_counter()
    spent = time.process_time() - processor
    await oracle.aclose()
    kept.close()
    return {"start": started - began, "seconds": ended - started, "processor": spent}


if __name__ == "__main__":
    main()
