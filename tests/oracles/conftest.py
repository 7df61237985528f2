"""What the tests of oracles share."""

import os
from pathlib import Path

import pytest

OURS = "TOURNAMENT_"
OTHERS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of whoever runs the tests, and no `.env` of theirs."""
    for name in list(os.environ):
        if name in OTHERS or (name.startswith(OURS) and name != "TOURNAMENT_CACHE"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
