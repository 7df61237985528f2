"""The digest of a run depends on everything that was played, and on nothing else."""

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.store import Record

PROGRAMS = [Program(name, f"# {name}\n") for name in "abc"]
A, B, C = (program.digest for program in PROGRAMS)
CONFIG = {"game": "chicken", "repetition": {"rounds": 3}}


def digest(
    record: Record,
    played: Sequence[Outcome],
    sizes: Sequence[int] = (),
    config: Any = CONFIG,
    seed: int = 7,
) -> str:
    """Return the digest of a new run with these outcomes, written in batches of these sizes."""
    run = record.begin_run(uuid4().hex, config, seed, [["C", "D"]] * 2)
    programs = random.sample(PROGRAMS, len(PROGRAMS))
    manifest = {"engine": uuid4().hex}
    left = list(played)
    for size in [*sizes, len(left)]:
        session = record.begin_session(run, manifest, [(each, each.name) for each in programs])
        record.append(session, left[:size])
        del left[:size]
    return record.digest(run)


OUTCOME = Outcome(
    fixture=Fixture((A, B), 1),
    rounds=3,
    moves=("01", "10"),
    payoffs=(-1.5, None),
    intended=("00", "11"),
    faults=(Fault(0, "error", 2, "oh", "traceback", "output"),),
    fuel=(10, 20),
    checked=(True, False),
)
OTHER = Outcome(Fixture((B, C), 0), 3, ("000", "111"), (1.0, 2.0))


@given(
    order=st.permutations(
        [dataclasses.replace(OTHER, fixture=Fixture((B, C), k)) for k in range(5)]
    ),
    sizes=st.lists(st.integers(0, 5), max_size=3),
)
@settings(max_examples=25, deadline=None)
def test_the_digest_does_not_depend_on_order_batches_sessions_or_numbers(
    long_record: Record, order: list[Outcome], sizes: list[int]
) -> None:
    expected = digest(long_record, sorted(order, key=lambda each: each.fixture))
    assert digest(long_record, order, sizes) == expected


def test_another_record_gives_the_same_digest(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        with Record.open(tmp_path / name) as record:
            digests.add(digest(record, [OUTCOME, OTHER]))
    assert len(digests) == 1
    with Record.read(tmp_path / "one") as record:
        assert record.digest(1) in digests


def test_the_digest_is_the_same_as_in_earlier_versions(long_record: Record) -> None:
    assert digest(long_record, [OUTCOME, OTHER]) == (
        "df0a6e4a80bc7c8a83e156b9038fa4d741697887ec33024593d3c826e9e4358b"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"fixture": Fixture((B, A), 1)},
        {"fixture": Fixture((A, C), 1)},
        {"fixture": Fixture((A, B), 2)},
        {"rounds": 4},
        {"moves": ("01", "11")},
        {"moves": ("011", "10")},
        {"intended": ("01", "11")},
        {"intended": None},
        {"payoffs": (-1.5, 0.0)},
        {"payoffs": (-1.5000000000000002, None)},
        {"faults": ()},
        *(
            {"faults": (dataclasses.replace(OUTCOME.faults[0], **change),)}
            for change in ({"seat": 1}, {"kind": "fuel"}, {"round": 1})
        ),
    ],
    ids=str,
)
def test_the_digest_depends_on_everything_that_was_played(
    long_record: Record, change: dict[str, Any]
) -> None:
    changed = dataclasses.replace(OUTCOME, **change)
    assert digest(long_record, [OTHER, changed]) != digest(long_record, [OTHER, OUTCOME])


@pytest.mark.parametrize(
    "change",
    [
        {"fuel": (11, 20)},
        {"checked": ()},
        {"notes": ((1, 2, "not proved"),)},
        {"leaky": (A,)},
        {"faults": (Fault(0, "error", 2, "other words", "elsewhere", "other output"),)},
    ],
    ids=str,
)
def test_the_digest_does_not_depend_on_fuel_audits_notes_or_messages(
    long_record: Record, change: dict[str, Any]
) -> None:
    changed = dataclasses.replace(OUTCOME, **change)
    assert digest(long_record, [OTHER, changed]) == digest(long_record, [OTHER, OUTCOME])


def test_the_digest_depends_on_the_configuration_the_seed_and_the_number_of_matches(
    long_record: Record,
) -> None:
    digests = {
        digest(long_record, [OUTCOME]),
        digest(long_record, [OUTCOME, OUTCOME]),
        digest(long_record, []),
        digest(long_record, [OUTCOME], seed=8),
        digest(long_record, [OUTCOME], config={**CONFIG, "limits": 1}),
    }
    assert len(digests) == 5
