"""The documents are true: their bots play, and every command, field, power and fault is in them."""

import re
from pathlib import Path

import pytest

from tests.batches import batch_of
from tournament.cli import app
from tournament.engine.play import play
from tournament.game import Setting
from tournament.library import load_game, packaged_sources
from tournament.sandbox.instance import Image

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "bots" / "README.md").read_text()
README = (ROOT / "README.md").read_text()
BOTS = re.findall(r"```python\n(.*?)```", GUIDE + README, re.DOTALL)


def test_the_guide_is_short_enough_to_be_put_into_a_prompt() -> None:
    assert len(GUIDE.split()) < 1_500


@pytest.mark.parametrize("number", range(len(BOTS)))
def test_a_bot_in_the_documents_plays_without_a_fault(sandbox: Image, number: int) -> None:
    library = packaged_sources()
    opponents = ("always_cooperate", "always_defect", "tit_for_tat")
    lineups = [(BOTS[number], library[name]) for name in opponents]
    batch = batch_of(*lineups, setting=Setting(load_game("prisoners_dilemma")))
    batch.library.update(library)
    assert not play(sandbox, batch).faults


def test_the_documents_have_at_least_six_bots() -> None:
    assert len(BOTS) >= 6


def test_every_command_is_in_the_readme() -> None:
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert {name for name in names if f"tournament {name}" not in README} == set()


def test_every_field_and_power_of_a_view_is_in_the_guide() -> None:
    fields = "legal seat mine theirs history me them others rng shared game observation"
    powers = "simulate proves TIMEOUT ERROR ILLEGAL"
    assert [name for name in f"{fields} {powers}".split() if f"view.{name}" not in GUIDE] == []


def test_every_kind_of_fault_is_in_the_guide() -> None:
    for kind in ("load", "error", "illegal", "fuel", "memory", "crash"):
        assert f"| `{kind}` |" in GUIDE
