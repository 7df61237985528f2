"""`docs/record.md` describes the tables and views that a record has, and its queries run."""

import gzip
import re
from pathlib import Path

import pytest

from tournament.store import Record

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "record.md").read_text("utf-8")
SECTIONS = re.findall(r"^### (\w+)\n\n(.+?)\n\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
QUERIES = re.findall(r"^(.+\?)\n\n```sql\n([^`]*)```", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated record with matches, evolution and calls to models."""
    path = tmp_path_factory.mktemp("record") / "record.duckdb"
    data = ROOT / "tests" / "data" / "record_1.duckdb.gz"
    path.write_bytes(gzip.decompress(data.read_bytes()))
    Record.open(path).close()
    return path


def test_the_page_has_every_table_view_and_column_with_its_type(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    Record.open(path).close()
    with Record.read(path) as record:
        query = "select table_name, column_name, lower(data_type) from information_schema.columns"
        existing = set(record.sql(query)[1])
    described = [
        (name, column, kind)
        for name, _, table in SECTIONS
        for column, kind in re.findall(r"^\| `(\w+)` \| ([\w\[\]]+) \| .+ \|$", table, re.MULTILINE)
    ]
    assert len(described) == len(set(described))
    assert set(described) == existing


def test_every_table_and_view_is_described_in_a_sentence() -> None:
    assert all(text.endswith(".") for _, text, _ in SECTIONS)


def test_there_are_ten_worked_queries() -> None:
    assert len(QUERIES) >= 10


@pytest.mark.parametrize(("question", "query"), QUERIES, ids=[q for q, _ in QUERIES])
def test_a_worked_query_finds_rows(old: Path, question: str, query: str) -> None:
    with Record.read(old) as record:
        _, rows = record.sql(query)
    assert rows
