"""A record after its process was killed, and when the disk is full."""

import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tournament.store import Record

BATCH = 40
PLAY = """
import sys
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.store import Record
path, batch = sys.argv[1], int(sys.argv[2])
print("start", flush=True)
record = Record.open(path)
program = Program("a", "a")
run = record.begin_run("key", {}, 1, [["C", "D"]] * 2)
session = record.begin_session(run, {}, [(program, "a")])
played = len(record.played(run))
for first in range(played, 10**9, batch):
    fixtures = [Fixture((program.digest,) * 2, first + k) for k in range(batch)]
    moves = ("01" * 50, "10" * 50)
    record.append(session, [Outcome(each, 100, moves, (1.0, 2.0)) for each in fixtures])
    print(first + batch, flush=True)
"""
FILL = """
import sys
from pathlib import Path
import anyio
from tournament.errors import RecordError
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.store import Record, Recorder
folder = Path(sys.argv[1])
ballast = folder / "ballast"
ballast.write_bytes(bytes(2**21))
record = Record.open(folder / "record.duckdb")
program = Program("a", "a")
run = record.begin_run("key", {}, 1, [["C", "D"]] * 2)
session = record.begin_session(run, {}, [(program, "a")])
committed = []

async def fill():
    async with Recorder.open(record, session, committed.extend) as recorder:
        for first in range(0, 10**6, 100):
            fixtures = [Fixture((program.digest,) * 2, first + k) for k in range(100)]
            await recorder.send([Outcome(f, 100, ("01" * 50, "0" * 100), (1.0, 2.0)) for f in fixtures])

try:
    anyio.run(fill)
except RecordError as error:
    print(error)
try:
    record.close()
except RecordError as error:
    print("close:", error, file=sys.stderr)
with Record.read(folder / "record.duckdb") as record:
    print({each.fixture for each in committed} <= record.played(run))
ballast.unlink()
with Record.open(folder / "record.duckdb") as record:
    played = record.played(run)
    seats = record.sql("select count(*) from seats")[1][0][0]
    print({each.fixture for each in committed} <= played, len(played) * 2 == seats, len(played) > 0)
    record.append(session, committed[:1])
"""


def test_a_kill_loses_no_committed_match_and_leaves_no_part_of_a_batch(
    path: Path, start: Any
) -> None:
    """The process is killed while it opens, writes or checkpoints the record, and is started again each time."""
    moment = random.Random(5)
    committed = 0
    for kill in range(8):
        child = start(PLAY, path, BATCH)
        assert child.stdout.readline() == "start\n"
        if kill == 7 and not committed:
            committed = int(child.stdout.readline())  # a slow machine was killed too early so far
        time.sleep(moment.uniform(0, 0.15) if kill % 4 == 3 else moment.uniform(0.1, 0.7))
        child.kill()
        numbers = child.communicate()[0].split()
        committed = max([committed, *map(int, numbers)])
        with Record.open(path) as record:
            run = record.begin_run("key", {}, 1, [["C", "D"]] * 2)
            played = {fixture.repetition for fixture in record.played(run)}
            assert played == set(range(len(played)))
            assert committed <= len(played) <= committed + BATCH
            assert len(played) % BATCH == 0
            assert record.sql("select count(*), count(distinct match) from matches")[1] == [
                (len(played), len(played))
            ]
            whole = "select count(*), coalesce(sum(length(moves)), 0) from seats"
            assert record.sql(whole)[1] == [(2 * len(played), 200 * len(played))]
            assert record.sql("from provenance where status = 'running'")[1] == []
            committed = len(played)
    assert committed > 0


def own_mounts() -> list[str]:
    """Return the command that gives a process mounts of its own; skip the test if that is not allowed."""
    prefix = ["unshare", "--map-root-user", "--mount"]
    if (
        not shutil.which("unshare")
        or subprocess.run([*prefix, "true"], capture_output=True).returncode
    ):
        pytest.skip("a process may not have mounts of its own here")
    return prefix


def test_a_full_disk_is_reported_in_one_line_and_keeps_committed_matches(
    tmp_path: Path, start: Any
) -> None:
    mount = f"mount -t tmpfs -o size=4m tmpfs {tmp_path} && exec"
    child = start(FILL, tmp_path, prefix=[*own_mounts(), "sh", "-c", f'{mount} "$@"', "sh"])
    line, *checks = child.communicate()[0].splitlines()
    assert "the disk is full" in line
    assert "same command again" in line
    assert checks == ["True", "True True True"]
    assert child.returncode == 0


def test_a_read_only_file_system_is_named_as_the_reason(path: Path, start: Any) -> None:
    Record.open(path).close()
    script = """
import sys
from tournament.errors import RecordRefused
from tournament.store import Record
try:
    Record.open(sys.argv[1])
except RecordRefused as error:
    print(error)
with Record.read(sys.argv[1]) as record:
    print(record.sql("select count(*) from matches"))
"""
    mount = f"mount --bind {path.parent} {path.parent} && mount -o remount,bind,ro {path.parent}"
    child = start(script, path, prefix=[*own_mounts(), "sh", "-c", f'{mount} && exec "$@"', "sh"])
    refused, read = child.communicate()[0].splitlines()
    assert "read-only" in refused
    assert "--db" in refused
    assert "[(0,)]" in read
