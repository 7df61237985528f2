"""Evolution that is killed and continued loses nothing, and pays for and plays nothing twice.

The moments of the kills are drawn from a seed. `KILLS=20 python -m pytest tests/evolve/test_kills.py` draws more.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.evolve.conftest import Serve, always, prompt_of
from tests.evolve.scripts import author, slow_author
from tests.oracles.server import Does, Server, error
from tournament.oracles.ledger import from_line
from tournament.sandbox.image import Image
from tournament.store import Record, RecordedStep

KILLS = int(os.environ.get("KILLS", "2"))
LONGEST = 0.15
"""Seconds after a request in which a kill falls; the server takes 0.1 for its answer."""
COMMANDS = {
    "evolve": ("evolve", "--chains", "2"),
    "evolve on two games": ("evolve", "--game", "penalty"),
    "run": ("run", "--pop", "bots", "--reps", "2", "--evolve", "2"),
}
PARENTS = """
    select child.name, child.digest, list(parent.digest order by parent.digest)
    from programs child left join programs parent on list_contains(child.parents, parent.program)
    group by all order by child.digest
"""
CALLS = "select * exclude (asked_at, seconds, line) from calls order by key"
TWICE = "select run, lineup, repetition from matches group by all having count(*) > 1"

Child = subprocess.Popen[bytes]
Start = Callable[..., Child]


@pytest.fixture
def start(tmp_path: Path, image: Image) -> Start:
    """A function that starts a command with two chains, on one game or on two."""
    (tmp_path / "bots").mkdir()
    for move in "bc":
        (tmp_path / "bots" / f"always_{move}.py").write_text(always(move))

    def run(words: tuple[str, ...], oracle: str, db: str) -> Child:
        plan = ("--oracle", oracle, "-K", "2", "-T", "1", "--episodes", "2", "--workers", "1")
        command = [sys.executable, "-m", "tournament", *words, "--game", "climbing", *plan]
        return subprocess.Popen(
            [*command, "--db", db, "--json"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return run


def finish(child: Child) -> bytes:
    """Wait for a command that must succeed, and return what it prints."""
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err.decode()
    return out


def kept(db: Path) -> Counter[str]:
    """Return the prompts whose answers are on record."""
    if not db.exists():
        return Counter()
    with Record.read(db) as record:
        calls = [from_line(line)[0] for line in record.call_lines()]
    return Counter("\n".join(message.text for message in call.messages) for call in calls)


def content(db: Path) -> tuple[list[RecordedStep], list[str], list[Any], list[Any]]:
    """Return all rows of a record, except times and the order in which they were written."""
    with Record.read(db) as record:
        chains = record.sql("select chain from chains order by run, name")[1]
        steps = [step for (chain,) in chains for step in record.steps(chain)]
        digests = [record.digest(run) for (run,) in record.sql("from runs select run")[1]]
        assert record.sql(TWICE)[1] == []
        return steps, digests, record.sql(CALLS)[1], record.sql(PARENTS)[1]


def kill_after_requests(child: Child, server: Server, moments: random.Random, left: int) -> None:
    """Kill the process soon after it has made some of the remaining requests, unless it ends earlier."""
    until = len(server.asked) + moments.randrange(left + 1)
    while len(server.asked) < until and child.poll() is None:
        time.sleep(0.005)
    time.sleep(moments.uniform(0.0, LONGEST))
    child.kill()
    child.communicate()


@pytest.mark.parametrize("command", COMMANDS)
def test_evolution_that_is_killed_at_any_moment_ends_the_same_and_pays_for_nothing_twice(
    start: Start, server: Serve, tmp_path: Path, command: str
) -> None:
    whole, cut = tmp_path / "whole.duckdb", tmp_path / "cut.duckdb"
    words, moments = COMMANDS[command], random.Random(11)
    with server(slow_author) as scripted:
        oracle = f"chat:m@{scripted.url}"
        printed = finish(start(words, oracle, whole.name))
        needed = Counter(map(prompt_of, scripted.asked))
        assert needed == kept(whole)
        for number in range(KILLS + 1):
            missing, before = needed - kept(cut), len(scripted.asked)
            child = start(words, oracle, cut.name)
            if number < KILLS:
                kill_after_requests(child, scripted, moments, missing.total())
            else:
                assert finish(child) == printed
            assert Counter(map(prompt_of, scripted.asked[before:])) <= missing
    assert content(cut) == content(whole)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_replay_that_is_killed_ends_like_the_run_that_it_repeats(
    start: Start, server: Serve, tmp_path: Path, command: str
) -> None:
    whole, replayed = tmp_path / "whole.duckdb", tmp_path / "replayed.duckdb"
    words, moments = COMMANDS[command], random.Random(12)
    with server(author) as scripted:
        printed = finish(start(words, f"chat:m@{scripted.url}", whole.name))
    began = time.monotonic()
    assert finish(start(words, f"replay:{whole.name}", "uninterrupted.duckdb")) == printed
    took = time.monotonic() - began
    for _ in range(KILLS):
        child = start(words, f"replay:{whole.name}", replayed.name)
        time.sleep(moments.uniform(0.0, took))
        child.kill()
        child.communicate()
    assert finish(start(words, f"replay:{whole.name}", replayed.name)) == printed
    assert content(replayed) == content(tmp_path / "uninterrupted.duckdb") == content(whole)


def test_an_interrupt_ends_calls_that_wait_for_the_server(
    start: Start, server: Serve, tmp_path: Path
) -> None:
    busy = Does(error("slow down"), status=429, headers={"retry-after": "60"})
    with server(busy) as scripted:
        child = start(COMMANDS["run"], f"chat:m@{scripted.url}", "r.duckdb")
        with child:
            while not scripted.asked and child.poll() is None:
                time.sleep(0.02)
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=30)
        assert child.returncode == 130, err.decode()
        assert "run the same command again to continue" in err.decode()
        scripted.script = author
        finish(start(COMMANDS["run"], f"chat:m@{scripted.url}", "r.duckdb"))
    with Record.read(tmp_path / "r.duckdb") as record:
        assert len(record.steps(1)) == len(record.steps(2)) == 4
