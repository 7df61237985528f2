"""Killed while chains grow, and taken up again: nothing is lost, nothing paid or played twice."""

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
from tests.oracles.server import Does, error
from tournament.sandbox.image import Image
from tournament.store import GrownStep, Record

KILLS = 3
LONGEST = 1.0
COMMAND = (sys.executable, "-m", "tournament")
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path, image: Image) -> Start:
    """Starts a tournament in which two chains grow."""
    (tmp_path / "bots").mkdir()
    for move in "bc":
        (tmp_path / "bots" / f"always_{move}.py").write_text(always(move))

    def run(oracle: str, db: str) -> "subprocess.Popen[bytes]":
        words = ("run", "--pop", "bots", "--game", "climbing", "--reps", "2", "--workers", "1")
        grows = ("--evolve", "2", "--oracle", oracle, "-K", "2", "-T", "1", "--episodes", "2")
        command = [*COMMAND, *words, *grows, "--db", db]
        return subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    return run


def finish(child: "subprocess.Popen[bytes]") -> None:
    out, _ = child.communicate(timeout=120)
    assert child.returncode == 0, out.decode()


def killed(start: Start, oracle: str, db: Path, moments: random.Random, kills: int) -> None:
    """Start it so many times and kill it soon after the record is there; then let it come to its end."""
    for _ in range(kills):
        child = start(oracle, db.name)
        with child:
            began = db.exists()
            while not db.exists() and child.poll() is None:
                time.sleep(0.02)
            time.sleep(0.5 * began + moments.uniform(0.0, LONGEST))
            child.kill()
    finish(start(oracle, db.name))


def content(db: Path) -> tuple[list[GrownStep], str, list[tuple[Any, ...]]]:
    """All that a record holds, but for when and in what order it came in."""
    with Record.read(db) as record:
        names = record.sql("select chain, name from chains order by name")[1]
        steps = [step for chain, _ in names for step in record.steps(chain)]
        twice = "select lineup, repetition from matches group by all having count(*) > 1"
        assert record.sql(twice)[1] == []
        calls = record.sql("select * exclude (asked_at, seconds, line) from calls order by key")[1]
        return steps, record.digest(1), calls


def test_a_killed_run_ends_as_one_that_was_not(start: Start, server: Serve, tmp_path: Path) -> None:
    whole, cut, replayed = (tmp_path / f"{name}.duckdb" for name in ("whole", "cut", "replayed"))
    with server(slow_author) as scripted:
        oracle = f"chat:m@{scripted.url}"
        finish(start(oracle, whole.name))
        paid = Counter(map(prompt_of, scripted.asked))
        killed(start, oracle, cut, random.Random(11), KILLS)
        again = Counter(map(prompt_of, scripted.asked)) - paid - paid
        # What was under way at a kill, one call of each chain, may have been answered in vain.
        assert again.total() <= 2 * KILLS
        asked = len(scripted.asked)
        killed(start, f"replay:{whole.name}", replayed, random.Random(12), KILLS - 1)
        assert len(scripted.asked) == asked
    assert content(cut) == content(whole)
    assert content(replayed) == content(whole)


def test_an_interrupt_ends_calls_that_wait_for_the_server(
    start: Start, server: Serve, tmp_path: Path
) -> None:
    busy = Does(error("slow down"), status=429, headers={"retry-after": "60"})
    with server(busy) as scripted:
        child = start(f"chat:m@{scripted.url}", "r.duckdb")
        with child:
            while not scripted.asked and child.poll() is None:
                time.sleep(0.02)
            child.send_signal(signal.SIGINT)
            out, _ = child.communicate(timeout=30)
        assert child.returncode == 130, out.decode()
        assert "the same command goes on from there" in out.decode()
        scripted.script = author
        finish(start(f"chat:m@{scripted.url}", "r.duckdb"))
    with Record.read(tmp_path / "r.duckdb") as record:
        assert len(record.steps(1)) == len(record.steps(2)) == 4
