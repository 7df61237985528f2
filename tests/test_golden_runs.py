"""Reference runs come out as they always did: their digests were recorded at commit da0ac5c, before any renaming."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
GOLDEN: list[dict[str, Any]] = json.loads((ROOT / "tests/data/golden_runs.json").read_text())


def command(db: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the engine on a record, in the folder that the recorded paths are relative to."""
    return subprocess.run(
        [sys.executable, "-m", "tournament", *arguments, "--db", str(db)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden["name"])
def test_a_reference_run_has_the_digest_that_was_recorded(
    golden: dict[str, Any], tmp_path: Path
) -> None:
    db = tmp_path / "record.duckdb"
    done = command(db, *golden["command"], "--workers", "1")
    assert done.returncode == golden["code"], done.stderr
    assert command(db, "digest").stdout.strip() == golden["digest"]
    for name, query in {
        "programs": "select digest from programs order by digest",
        "steps": "select step, round, seat, turn, welfare, outcome from steps order by chain, step",
    }.items():
        if name in golden:
            assert json.loads(command(db, "sql", "--json", query).stdout) == golden[name]


def test_there_are_at_least_ten_reference_runs() -> None:
    assert len(GOLDEN) >= 10
