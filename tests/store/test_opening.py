"""Opening a record: which processes may, which files are refused, and that a refusal changes nothing."""

import os
import random
import re
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

import tournament.store
from tournament.errors import (
    RecordBusy,
    RecordError,
    RecordRefused,
    TournamentError,
    UsageError,
)
from tournament.store import Record

HOLD = """
import sys, time
from tournament.store import Record
with getattr(Record, sys.argv[1])(sys.argv[2]):
    print("open", flush=True)
    time.sleep(60)
"""
TRY = """
import sys
from tournament.errors import RecordBusy
from tournament.store import Record
try:
    Record.open(sys.argv[1])
except RecordBusy:
    print("busy")
"""
ABANDON = """
import os, sys
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.store import Record
record = Record.open(sys.argv[1])
run = record.begin_run("key", {}, 1, [["C", "D"]] * 2)
program = Program("a", "a")
session = record.begin_session(run, {}, [(program, "a")])
for repetition in range(20):
    fixture = Fixture((program.digest,) * 2, repetition)
    record.append(session, [Outcome(fixture, 50, ("0" * 50, "1" * 50), (1.0, 2.0))])
os._exit(9)
"""


def refusal(error: type[TournamentError], path: Path, way: str = "open") -> str:
    """Return the one line with which opening a record is refused."""
    with pytest.raises(error) as raised:
        getattr(Record, way)(path)
    assert type(raised.value) is error
    assert "\n" not in str(raised.value)
    assert str(path) in str(raised.value)
    return str(raised.value)


def count(path: Path) -> int:
    with Record.read(path) as record:
        return int(record.sql("select count(*) from matches")[1][0][0])


def test_a_record_is_made_with_its_folders_and_can_be_read_afterwards(path: Path) -> None:
    Record.open(path).close()
    assert count(path) == 0
    assert not path.with_name("record.duckdb.wal").exists()


def test_an_empty_file_becomes_a_record(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    Record.open(path).close()
    assert count(path) == 0


def test_opening_again_and_again_does_not_make_the_file_grow(path: Path) -> None:
    sizes = set()
    for _ in range(12):
        Record.open(path).close()
        sizes.add(path.stat().st_size)
    assert max(sizes) < 2**20
    assert len(sizes) < 6


def test_a_second_writer_is_refused_with_the_process_that_writes_the_record(
    path: Path, start: Any
) -> None:
    child = start(HOLD, "open", path)
    assert child.stdout.readline() == "open\n"
    line = refusal(RecordBusy, path)
    assert f"process {child.pid} (" in line
    assert "record.duckdb" in line.split("(")[1]
    assert f"process {child.pid} (" in refusal(RecordBusy, path, "read")


def test_a_writer_is_refused_with_the_process_that_reads_the_record(path: Path, start: Any) -> None:
    Record.open(path).close()
    child = start(HOLD, "read", path)
    assert child.stdout.readline() == "open\n"
    assert re.search(rf"by process {child.pid}:", refusal(RecordBusy, path))


def test_many_processes_read_at_once(path: Path, start: Any) -> None:
    Record.open(path).close()
    child = start(HOLD, "read", path)
    assert child.stdout.readline() == "open\n"
    with Record.read(path), Record.read(path):
        assert count(path) == 0


def test_the_same_process_cannot_open_a_record_twice(path: Path, tmp_path: Path) -> None:
    with Record.open(path):
        assert f"process {os.getpid()}" in refusal(RecordBusy, path)
        assert "this process" in refusal(RecordBusy, path, "read")
        link = tmp_path / "link"
        link.symlink_to(path)
        with pytest.raises(RecordBusy):
            Record.open(link)
    Record.open(path).close()


def test_the_lock_holds_although_other_code_opens_and_closes_the_file(
    path: Path, start: Any
) -> None:
    with Record.open(path):
        path.read_bytes()  # closing any handle of the file drops the lock that DuckDB holds
        assert start(TRY, path).communicate()[0] == "busy\n"


def test_a_killed_process_does_not_keep_the_record_locked(path: Path, start: Any) -> None:
    child = start(HOLD, "open", path)
    assert child.stdout.readline() == "open\n"
    child.kill()
    child.wait()
    Record.open(path).close()


def test_reading_a_missing_record_says_how_to_make_one(path: Path) -> None:
    assert f"tournament run --pop bots/ --db {path}" in refusal(UsageError, path, "read")
    assert not path.parent.exists()


@pytest.mark.parametrize("way", ["open", "read"])
def test_a_folder_is_refused_as_a_record(tmp_path: Path, way: str) -> None:
    assert "is a folder: name a file in it" in refusal(UsageError, tmp_path, way)


@pytest.mark.parametrize("way", ["open", "read"])
@pytest.mark.parametrize("content", [b"hello", random.Random(1).randbytes(20_000)])
def test_a_file_of_another_kind_is_refused_and_not_changed(
    tmp_path: Path, way: str, content: bytes
) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert "not a record" in refusal(RecordRefused, path, way)
    assert path.read_bytes() == content


@pytest.mark.parametrize("way", ["open", "read"])
def test_a_database_of_another_kind_is_refused_and_not_changed(tmp_path: Path, way: str) -> None:
    path = tmp_path / "other"
    connection = sqlite3.connect(path)
    connection.execute("create table t (i)")
    connection.commit()
    connection.close()
    assert "not a record" in refusal(RecordRefused, path, way)


@pytest.mark.parametrize("way", ["open", "read"])
def test_a_duckdb_file_with_other_tables_is_refused_and_not_changed(
    tmp_path: Path, way: str
) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("create table cats (name varchar)")
    assert "something else" in refusal(RecordRefused, path, way)
    with duckdb.connect(path) as connection:
        assert connection.execute("show tables").fetchall() == [("cats",)]


@pytest.mark.parametrize("way", ["open", "read"])
def test_a_record_of_a_newer_version_is_refused_in_one_line(path: Path, way: str) -> None:
    Record.open(path).close()
    with duckdb.connect(path) as connection:
        connection.execute("insert into migrations values ('from the future', null)")
    assert "'from the future'" in refusal(RecordRefused, path, way)


def test_a_record_of_an_older_version_is_not_read_before_it_is_migrated(path: Path) -> None:
    Record.open(path).close()
    with duckdb.connect(path) as connection:
        connection.execute("delete from migrations")
    assert "older version" in refusal(RecordError, path, "read")


@pytest.mark.parametrize("column", ["steps drop samples", "calls drop line"])
def test_a_record_of_an_unfinished_version_is_refused_in_one_line(path: Path, column: str) -> None:
    Record.open(path).close()
    with duckdb.connect(path) as connection:
        for view in connection.execute(
            "select view_name from duckdb_views() where not internal"
        ).fetchall():
            connection.execute(f"drop view if exists {view[0]} cascade")
        connection.execute(f"alter table {column}")
    for way in ("open", "read"):
        assert "unfinished version of tournament" in refusal(RecordRefused, path, way)


def test_a_record_from_before_evolution_is_brought_up_to_date(path: Path) -> None:
    tables = (Path(tournament.store.__file__).parent / "schema.sql").read_text()
    path.parent.mkdir(parents=True, exist_ok=True)
    with duckdb.connect(path) as connection:
        connection.execute(
            "create table migrations (name varchar primary key, applied_at timestamp)"
        )
        connection.execute(f"{tables}; insert into migrations values ('tables', null)")
    assert "older version" in refusal(RecordError, path, "read")
    Record.open(path).close()
    with Record.read(path) as record:
        assert record.sql("select count(*) from evolution, spending")[1] == [(0,)]


def test_views_of_an_older_version_are_replaced(path: Path) -> None:
    Record.open(path).close()
    with duckdb.connect(path) as connection:
        connection.execute("create or replace view fault_counts as select 1 as old")
    Record.open(path).close()
    with Record.read(path) as record:
        assert "kind" in record.sql("from fault_counts")[0]


def test_a_damaged_write_ahead_log_is_refused_and_not_dropped(path: Path, start: Any) -> None:
    assert start(ABANDON, path).wait() == 9
    log = path.with_name("record.duckdb.wal")
    good = log.read_bytes()
    bad = bytearray(good)
    bad[len(bad) // 2] ^= 1
    log.write_bytes(bad)
    for way in ("open", "read", "open"):
        assert f"{log} is damaged" in refusal(RecordError, path, way)
        assert log.read_bytes() == bad
    log.write_bytes(good)
    assert count(path) == 20


def test_without_its_damaged_log_a_record_opens_at_the_last_checkpoint(
    path: Path, start: Any
) -> None:
    Record.open(path).close()
    assert start(ABANDON, path).wait() == 9
    log = path.with_name("record.duckdb.wal")
    log.rename(log.with_suffix(".aside"))
    with Record.open(path) as record:
        assert record.begin_run("key", {}, 1, [["C"]]) == 1
        assert record.played(1) == set()


def test_a_damaged_record_is_refused_in_one_line(path: Path) -> None:
    Record.open(path).close()
    content = bytearray(path.read_bytes())
    content[4096:] = bytes(255 - byte for byte in content[4096:])
    path.write_bytes(content)
    assert "damaged" in refusal(RecordRefused, path)


def test_a_path_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refusal(RecordError, tmp_path / "file" / "record.duckdb")
