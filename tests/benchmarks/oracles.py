"""A thousand calls, 200 at a time, to a server in another process that takes 100 ms for each.

Prints the seconds from the first call to the last answer, beside the ideal of five times 100 ms. Every answer is
recorded before it is used. The time of starting is printed separately: imports, opening the record, and 200 calls that
open the connections and do not count.
The peer is a bare aiohttp client, which records nothing and has the same concurrency, server and start.
Then the same is measured with failures: every eighth request is refused with 429, dropped before or in the middle of
its answer, or fails with 503. The number of calls that were lost or answered twice is printed.

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
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

SERVER = Path(__file__).parents[1] / "oracles" / "server.py"
ALLOWED = 1.15
Ask = Callable[[int], Awaitable[None]]
PROGRAM = "def act(view):\n    return view.legal[0]\n" * 20


def main() -> None:
    options = _options()
    ideal = options.latency * options.calls / options.concurrency
    results: dict[str, Any] = {"calls": options.calls, "ideal": ideal, "allowed": ALLOWED * ideal}
    print(f"ideal: {ideal:.3f} s, allowed: {ALLOWED * ideal:.3f} s")
    # The contenders take turns, so that other work of the machine slows all of them.
    for _ in range(options.runs):
        results.setdefault("peer", []).append(measure_peer(options))
        for script in ("plain", "troubled"):
            results.setdefault(script, []).append(measure(script, options))
    for name in ("peer", "plain", "troubled"):
        _show(name, results[name], ideal)
    for word, of in (("median", statistics.median), ("best", min)):
        plain, peer = (of(run["seconds"] for run in results[name]) for name in ("plain", "peer"))
        print(f"plain takes {plain / peer:.2f} x the time of the peer ({word} of each)")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


def _show(name: str, runs: list[dict[str, float]], ideal: float) -> None:
    middle = {field: statistics.median(run[field] for run in runs) for field in runs[0]}
    best = min(run["seconds"] for run in runs)
    print(
        f"{name}: {middle['seconds']:.3f} s (best {best:.3f}), "
        f"{middle['seconds'] / ideal:.2f} x the ideal (best {best / ideal:.2f}); "
        f"processor {middle['processor']:.3f} s; the server's replies {middle['late'] * 1e3:.1f} ms late\n"
        f"    start-up: imports {runs[0]['imports']:.3f} s, record {middle['record']:.3f} s, "
        f"connecting {middle['connecting']:.3f} s"
    )
    if "requests" in middle:
        lost, doubled = (sum(run[field] for run in runs) for field in ("lost", "doubled"))
        print(f"    requests {middle['requests']:.0f}, lost {lost:.0f}, doubled {doubled:.0f}")


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
    """Run a server in a process of its own and yield its address."""
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
    """Return the times of one run, and the numbers of calls that were lost or answered twice."""
    with server(script, options.latency) as url, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.duckdb"
        result: dict[str, float] = anyio.run(ask_all, url, options, path)
        tally = _tally(url)
        kept = _kept(path)
    return result | {
        "late": tally["late"] / tally["requests"],
        "requests": tally["requests"],
        "lost": options.calls + options.concurrency - len(kept),
        "doubled": tally["answers"] - tally["prompts"],
    }


def _tally(url: str) -> dict[str, float]:
    result: dict[str, float] = json.load(urllib.request.urlopen(url.removesuffix("/v1") + "/tally"))
    return result


def _kept(path: Path) -> set[str]:
    """Return the steps whose calls are on record with a program."""
    from tournament.store import Record

    with Record.read(path) as record:
        return {place for (place,) in record.sql("select place from calls where outcome = 'ok'")[1]}


async def ask_all(url: str, options: argparse.Namespace, path: Path) -> dict[str, float]:
    """Make all calls at once, wait for the last answer, and return the times."""
    began = time.perf_counter()
    import tournament.oracles.transport  # noqa: F401
    from tournament.evolve.journal import RecordJournal
    from tournament.oracles.oracle import Call, Message
    from tournament.oracles.settings import Settings
    from tournament.oracles.spec import make_oracle, make_services
    from tournament.store import Record

    imported = time.perf_counter()
    settings = Settings.load(
        base_url=url, api_key="sk-benchmark", concurrency=options.concurrency, retries=20
    )
    with Record.open(path) as record:
        opened = time.perf_counter()
        oracle = make_oracle("chat:scripted", make_services(settings, RecordJournal(record, 1)))

        async def ask(number: int) -> None:
            text = f"call {number}\n{PROGRAM}"
            await oracle.ask(Call("write", (Message("user", text),), "digest", str(number)))

        result = await _timed(ask, options)
        await oracle.aclose()
    return result | {"imports": imported - began, "record": opened - imported}


def measure_peer(options: argparse.Namespace) -> dict[str, float]:
    """Return the times of one run of the bare client."""
    with server("plain", options.latency) as url:
        result: dict[str, float] = anyio.run(ask_all_plainly, url, options)
        tally = _tally(url)
    return result | {"late": tally["late"] / tally["requests"]}


async def ask_all_plainly(url: str, options: argparse.Namespace) -> dict[str, float]:
    """Make all calls at once with aiohttp alone, and return the times."""
    began = time.perf_counter()
    import aiohttp

    imported = time.perf_counter()
    connector = aiohttp.TCPConnector(limit=options.concurrency)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(number: int) -> None:
            messages = [{"role": "user", "content": f"call {number}\n{PROGRAM}"}]
            body = {"model": "scripted", "messages": messages}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                await response.json()

        result = await _timed(ask, options)
    return result | {"imports": imported - began, "record": 0.0}


async def _timed(ask: Ask, options: argparse.Namespace) -> dict[str, float]:
    """Make one call for each connection, then the calls that count, all at once; return the times."""
    began = time.perf_counter()
    await _all_at_once(ask, range(options.calls, options.calls + options.concurrency))
    started, processor = time.perf_counter(), time.process_time()
    await _all_at_once(ask, range(options.calls))
    ended, processor_seconds = time.perf_counter(), time.process_time() - processor
    return {
        "connecting": started - began,
        "seconds": ended - started,
        "processor": processor_seconds,
    }


async def _all_at_once(ask: Ask, numbers: Iterable[int]) -> None:
    async with anyio.create_task_group() as group:
        for number in numbers:
            group.start_soon(ask, number)


if __name__ == "__main__":
    main()
