"""A record of the first format opens, and its views give the same rows as before under today's names."""

import gzip
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tournament.errors import RecordError
from tournament.store import Record

DATA = Path(__file__).parents[1] / "data"
THEN: dict[str, Any] = json.loads((DATA / "record_1.json").read_text())
RENAMED_VIEWS = {"faulted": "fault_counts", "growth": "evolution", "history": "provenance"}
RENAMED_TABLES = {"sittings": "sessions"}
RENAMED_COLUMNS = {"voided": "unscored"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the record that the first version made."""
    path = tmp_path / "old.duckdb"
    path.write_bytes(gzip.decompress((DATA / "record_1.duckdb.gz").read_bytes()))
    return path


@pytest.fixture
def migrated(old: Path) -> Path:
    """The same copy, migrated by opening it once for writing."""
    Record.open(old).close()
    return old


def rows(path: Path, query: str) -> list[dict[str, Any]]:
    with Record.read(path) as record:
        columns, found = record.sql(query)
    plain = json.dumps([dict(zip(columns, row, strict=True)) for row in found], default=float)
    return list(json.loads(plain))


def test_an_old_record_is_refused_for_reading_until_it_has_been_opened_for_writing(
    old: Path,
) -> None:
    with pytest.raises(RecordError, match="made by an older version"):
        Record.read(old)


@pytest.mark.parametrize("run", THEN["digests"])
def test_migration_does_not_change_the_digest_of_a_run(migrated: Path, run: str) -> None:
    with Record.read(migrated) as record:
        assert record.digest(int(run)) == THEN["digests"][run]


@pytest.mark.parametrize("view", THEN["views"])
def test_migration_does_not_change_the_rows_of_a_view(migrated: Path, view: str) -> None:
    then = [
        {RENAMED_COLUMNS.get(column, column): value for column, value in row.items()}
        for row in THEN["views"][view]
    ]
    assert rows(migrated, f"from {RENAMED_VIEWS.get(view, view)} order by all") == then


@pytest.mark.parametrize("table", THEN["counts"])
def test_migration_keeps_all_rows_of_a_table(migrated: Path, table: str) -> None:
    name = RENAMED_TABLES.get(table, table)
    assert rows(migrated, f"select count(*) as n from {name}") == [{"n": THEN["counts"][table]}]


def test_the_old_names_of_tables_and_views_are_gone(migrated: Path) -> None:
    with duckdb.connect(migrated, read_only=True) as connection:
        query = "select table_name from information_schema.tables"
        names = {name for (name,) in connection.execute(query).fetchall()}
    assert names.isdisjoint({*RENAMED_VIEWS, *RENAMED_TABLES})


def test_a_new_record_and_a_migrated_one_have_the_same_columns(
    migrated: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.duckdb"
    Record.open(new).close()
    query = """
        select table_name, column_name, data_type, is_nullable
        from information_schema.columns order by all
    """
    assert rows(migrated, query) == rows(new, query)


@pytest.mark.parametrize("short", [True, False])
def test_a_chain_is_found_again_by_its_plan_under_the_new_names(old: Path, short: bool) -> None:
    if short:
        with duckdb.connect(old) as connection:
            connection.execute("update chains set plan = replace(plan, 'false}', 'true}')")
    with Record.open(old) as record:
        for chain in record.chains():
            assert chain.plan["short_prompts"] is short and "terse" not in chain.plan
            plan = dict(chain.plan)
            assert record.begin_chain(chain.run, chain.name, chain.oracles, plan) == chain.chain
