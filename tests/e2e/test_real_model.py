"""A small real model writes good and bad bots, and those that run enter the round robin."""

from pathlib import Path

import pytest

from tests.e2e.real_model import BOTS, NEEDS, exercise, missing
from tournament.match import FAULTS
from tournament.oracles.oracle import CallOutcome

NAMED = {*map(str, CallOutcome), *FAULTS, "leaky", "lost"}


@pytest.mark.timeout(3600)
@pytest.mark.skipif(
    bool(missing()),
    reason=f"needs {NEEDS[0]} and the model's parts: pip install -r tests/e2e/requirements.txt",
)
def test_a_small_real_model_writes_bots_that_enter_the_round_robin(tmp_path: Path) -> None:
    result = exercise(tmp_path)
    ran = {step["source"] for step in result.steps if step["welfare"] is not None}
    assert ran
    newcomers = {row["bot"] for row in result.leaderboard} - set(BOTS)
    assert newcomers and len(newcomers) <= len(ran)
    assert {step["outcome"] for step in result.steps} <= NAMED
    assert {call["outcome"] for call in result.calls} <= NAMED
    for step in result.steps:
        assert (step["welfare"] is None) == (step["outcome"] not in ("ok", "several_blocks"))
