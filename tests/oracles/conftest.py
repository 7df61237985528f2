"""What the tests of oracles share."""

import pytest

SETTINGS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """No settings of whoever runs the tests, and no `.env` of theirs."""
    import os

    for name in [n for n in os.environ if n.startswith("TOURNAMENT_") or n in SETTINGS]:
        if name != "TOURNAMENT_CACHE":
            monkeypatch.delenv(name)
    monkeypatch.chdir(str(tmp_path))
