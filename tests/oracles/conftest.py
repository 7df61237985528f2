"""The environment of all tests of oracles."""

import os
from pathlib import Path

import pytest

OURS = "TOURNAMENT_"
OTHERS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove the settings and the `.env` file of the person who runs the tests."""
    for name in list(os.environ):
        if name in OTHERS or (name.startswith(OURS) and name != "TOURNAMENT_CACHE"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
