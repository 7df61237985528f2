"""Runs, sessions and outcomes are read as they were written."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tournament.errors import NotFound, RecordError
from tournament.match import FAULTS, Fault, Fixture, Outcome
from tournament.program import Program
from tournament.store import Record

examples = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PROGRAMS = [Program(name, f"# {name}\n") for name in "abcde"]
DIGESTS = [program.digest for program in PROGRAMS]
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@st.composite
def outcomes(draw: Callable[..., Any]) -> Outcome:
    """Draw an outcome that a match of two to four seats can have."""
    seats = draw(st.integers(2, 4))

    def each(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
        return st.tuples(*[values] * seats)

    codes = st.text(st.characters(min_codepoint=48, max_codepoint=125), max_size=12)
    at_fault = sorted(draw(st.sets(st.integers(0, seats - 1), max_size=seats)))
    return Outcome(
        fixture=Fixture(draw(each(st.sampled_from(DIGESTS))), draw(st.integers(0, 9))),
        rounds=draw(st.integers(1, 100_000)),
        moves=draw(each(codes)),
        payoffs=draw(each(st.none() | st.floats(allow_nan=False, allow_infinity=False))),
        intended=draw(st.none() | each(codes)),
        faults=tuple(
            Fault(
                seat, draw(st.sampled_from(FAULTS)), draw(st.integers(0, 99)), *draw(each(text))[:2]
            )
            for seat in at_fault
        ),
        fuel=draw(st.just(()) | each(st.integers(0, 2**62))),
        checked=draw(st.just(()) | each(st.booleans())),
        notes=tuple((seat, draw(st.integers(0, 99)), draw(text)) for seat in at_fault),
        leaky=tuple(sorted(draw(st.sets(st.sampled_from(DIGESTS), max_size=2)))),
    )


def begin(record: Record, config: Any = None, seed: int = 7) -> tuple[int, int]:
    """Begin a new run and a session of the programs."""
    run = record.begin_run(uuid4().hex, config or {}, seed, [["C", "D"]] * 2)
    return run, record.begin_session(run, {}, [(each, each.name) for each in PROGRAMS])


@given(played=st.lists(outcomes(), min_size=1, max_size=4))
@examples
def test_outcomes_are_read_as_they_were_written(long_record: Record, played: list[Outcome]) -> None:
    run, session = begin(long_record)
    matches = long_record.append(session, played)
    assert [long_record.outcome(match).outcome for match in matches] == played
    assert long_record.played(run) == {outcome.fixture for outcome in played}


def test_a_match_is_read_with_everything_that_a_replay_needs(record: Record) -> None:
    config = {"game": "chicken", "parameters": {"crash": -10.5}, "limits": {"fuel": 10**9}}
    run = record.begin_run("key", config, 2**100, [["C", "D"]] * 2)
    manifest = {"engine": "0.1", "image": "abc", "layers": ["seccomp"], "strict": False}
    entrants = [(program, program.name.upper()) for program in PROGRAMS]
    session = record.begin_session(run, manifest, entrants)
    outcome = Outcome(Fixture((DIGESTS[1], DIGESTS[3]), 5), 1, ("0", "1"), (1.0, 2.0))
    record.append(session, [outcome])
    played = record.outcome(1)
    assert (played.run, played.session, played.outcome) == (run, session, outcome)
    assert (played.config, played.seed, played.manifest) == (config, 2**100, manifest)
    assert played.programs == {DIGESTS[1]: PROGRAMS[1], DIGESTS[3]: PROGRAMS[3]}


def test_match_numbers_count_from_one_across_all_runs(record: Record) -> None:
    outcome = Outcome(Fixture((DIGESTS[0],) * 2, 0), 1, ("0", "0"), (1.0, 1.0))
    first, second = begin(record)[1], begin(record)[1]
    assert record.append(first, [outcome] * 3) == range(1, 4)
    assert record.append(second, []) == range(4, 4)
    assert record.append(second, [outcome]) == range(4, 5)


def test_replacing_outcomes_keeps_the_numbers_of_their_matches(record: Record) -> None:
    run, session = begin(record)
    other_run, other = begin(record)
    fixtures = [Fixture((DIGESTS[0], each), 0) for each in DIGESTS]
    fault = Fault(0, "fuel", 0, "")
    old = [
        Outcome(each, 1, ("0", "0"), (1.0, None), faults=(fault,), leaky=(DIGESTS[0],))
        for each in fixtures
    ]
    new = [Outcome(each, 1, ("1", "1"), (2.0, 2.0), leaky=(DIGESTS[1],)) for each in fixtures]
    matches = record.append(session, old[:4])
    untouched = record.append(other, old)
    record.replace(session, [new[4], new[1]])
    assert [record.outcome(match).outcome for match in matches] == [old[0], new[1], *old[2:4]]
    assert record.outcome(untouched[-1] + 1).outcome == new[4]
    assert record.played(run) == record.played(other_run) == set(fixtures)
    assert [record.outcome(match).outcome for match in untouched] == old
    record.replace(session, [])


def test_a_run_is_found_by_its_key(path: Path) -> None:
    with Record.open(path) as record:
        assert record.begin_run("one", {}, 1, [["C"]]) == 1
        assert record.begin_run("two", {}, 1, [["C"]]) == 2
    with Record.open(path) as record:
        assert record.begin_run("one", {}, 1, [["C"]]) == 1


def test_a_continued_run_knows_which_matches_were_played(path: Path) -> None:
    fixtures = [Fixture((a, b), k) for a in DIGESTS for b in DIGESTS for k in range(3)]
    for part in range(3):
        with Record.open(path) as record:
            run = record.begin_run("key", {}, 1, [["C", "D"]] * 2)
            session = record.begin_session(run, {}, [(each, each.name) for each in PROGRAMS])
            assert record.played(run) == set(fixtures[: part * 25])
            todo = [each for each in fixtures if each not in record.played(run)]
            record.append(session, [Outcome(each, 1, ("0", "1"), (0.0, 5.0)) for each in todo[:25]])
    with Record.read(path) as record:
        assert record.played(run) == set(fixtures)
        assert record.programs() == {each.digest: each for each in PROGRAMS}


def test_a_session_ends_with_its_status_and_an_abandoned_one_as_interrupted(path: Path) -> None:
    outcome = Outcome(Fixture((DIGESTS[0],) * 2, 0), 1, ("0", "0"), (1.0, 1.0))
    with Record.open(path) as record:
        _, done = begin(record)
        record.append(done, [outcome] * 2)
        record.end_session(done, "done")
        _, abandoned = begin(record)
        record.append(abandoned, [outcome])
    with Record.open(path) as record:
        _, failed = begin(record)
        record.end_session(failed, "failed")
        columns = "status, matches, ended_at >= started_at"
        assert record.sql(f"select {columns} from provenance")[1] == [
            ("done", 2, True),
            ("interrupted", 1, None),
            ("failed", 0, True),
        ]


def test_the_view_provenance_shows_the_manifest(record: Record) -> None:
    run = record.begin_run("key", {"game": "chicken"}, 3, [["C"]])
    manifest = {
        "engine": "0.1.0",
        "python": "3.11.7",
        "wasmtime": "50.0.1",
        "image": "ab12",
        "layers": ["landlock"],
        "workers": 2,
        "strict": True,
        "command": 'tournament run "chicken"',
    }
    record.begin_session(run, manifest, [])
    columns, rows = record.sql("from provenance")
    shown = dict(zip(columns, rows[0], strict=True))
    assert (shown["run"], shown["game"], shown["seed"]) == (run, "chicken", "3")
    assert (shown["workers"], shown["strict"]) == ("2", "true")
    for field in ("engine", "python", "wasmtime", "image", "command"):
        assert shown[field] == manifest[field]


def test_files_that_were_left_out_are_recorded_with_the_reason(record: Record) -> None:
    run = record.begin_run("key", {}, 1, [["C"]])
    entrants = [(PROGRAMS[0], "a")]
    record.begin_session(run, {}, entrants, [("bad", "line 3 has a NUL"), ("rps", "plays rps")])
    assert record.sql("select bot, program, problem from entrants order by bot")[1] == [
        ("a", 1, None),
        ("bad", None, "line 3 has a NUL"),
        ("rps", None, "plays rps"),
    ]
    record.begin_session(run, {}, [], [])


def test_a_source_is_stored_once(record: Record) -> None:
    begin(record)
    begin(record)
    run = record.begin_run("key", {}, 1, [["C"]])
    record.begin_session(run, {}, [(Program("z", "# a\n"), "z"), (Program("y", "# y\n"), "y")])
    assert record.sql("select program, name from programs order by program")[1] == [
        *((number, program.name) for number, program in enumerate(PROGRAMS, 1)),
        (6, "y"),
    ]


def test_odd_names_and_messages_are_read_as_they_were_written(record: Record) -> None:
    names = [
        "it's",
        'say "hi"',
        "a,b;c\t",
        "\U0001f916 \u202etob",
        "'); drop table seats; --",
        "\0x",
    ]
    bots = [Program(name, f"# {number}", f"bots/{name}.py") for number, name in enumerate(names)]
    run = record.begin_run("key", {"game": "it's"}, 1, [["it's", 'a "b"']] * 2)
    session = record.begin_session(run, {}, [(bot, bot.name) for bot in bots])
    played = [
        Outcome(
            Fixture((bot.digest,) * 2, 0),
            1,
            ("0", "1"),
            (0.0, None),
            faults=(Fault(0, "error", 0, bot.name, "line\nline", "\x1b[1m"),),
        )
        for bot in bots
    ]
    matches = record.append(session, played)
    assert [record.outcome(match).outcome for match in matches] == played
    assert {bot for (bot,) in record.sql("select bot from leaderboard")[1]} == set(names)
    assert {example for (example,) in record.sql("select example from fault_counts")[1]} == set(
        names
    )
    assert record.programs() == {bot.digest: bot for bot in bots}


def test_text_that_is_not_unicode_is_recorded_as_an_escape(record: Record) -> None:
    program = Program("caf\udce9", "x", "bots/caf\udce9.py")
    run = record.begin_run("key", {}, 1, [["C"]] * 2)
    session = record.begin_session(run, {}, [(program, program.name)])
    fault = Fault(0, "error", 0, "\ud800", "", "")
    fixture = Fixture((program.digest,) * 2, 0)
    record.append(session, [Outcome(fixture, 1, ("", ""), (0.0, None), faults=(fault,))])
    assert record.outcome(1).outcome.faults[0].message == r"\ud800"
    assert record.sql("select bot from bots")[1] == [(r"caf\udce9",)]


def test_a_batch_is_recorded_as_a_whole_or_not_at_all(record: Record) -> None:
    _, session = begin(record)
    good = Outcome(Fixture((DIGESTS[0],) * 2, 0), 1, ("0", "0"), (1.0, 1.0))
    record.append(session, [good])
    too_many = Outcome(Fixture((DIGESTS[0],) * 2, 1), 2**40, ("0", "0"), (1.0, 1.0))
    for bad, error in (
        (too_many, RecordError),
        (Outcome(Fixture(("?",), 0), 1, ("",), (1.0,)), KeyError),
    ):
        with pytest.raises(error):
            record.append(session, [good, bad])
    assert record.append(session, [good]) == range(2, 3)
    assert record.sql("select count(*), count(distinct match) from seats")[1] == [(4, 2)]


def test_a_record_that_was_opened_for_reading_cannot_be_written(path: Path) -> None:
    Record.open(path).close()
    with Record.read(path) as record, pytest.raises(RecordError, match="reading only"):
        record.begin_run("key", {}, 1, [["C"]])


def test_a_missing_run_or_match_is_named(record: Record) -> None:
    with pytest.raises(NotFound, match="no match called '17'"):
        record.outcome(17)
    with pytest.raises(NotFound, match="no run called '3'"):
        record.digest(3)


def test_threads_may_share_a_record(record: Record) -> None:
    _, session = begin(record)
    outcome = Outcome(Fixture((DIGESTS[0],) * 2, 0), 1, ("0", "0"), (1.0, 1.0))
    wrong: list[object] = []

    def write() -> None:
        for _ in range(10):
            record.append(session, [outcome] * 5)

    def ask(number: int) -> None:
        for _ in range(40):
            wrong.extend(row for row in record.sql(f"select {number}")[1] if row != (number,))
            record.sql("from leaderboard")

    threads = [threading.Thread(target=write) for _ in range(2)]
    threads += [threading.Thread(target=ask, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert record.sql("select count(*), max(match) from matches")[1] == [(100, 100)]


def test_twenty_thousand_matches_take_a_second_or_so_and_little_room(record: Record) -> None:
    run, session = begin(record)
    fixtures = [Fixture((a, b), k) for k in range(800) for a in DIGESTS for b in DIGESTS]
    played = [Outcome(each, 1, ("0", "1"), (0.0, 5.0), fuel=(9, 9)) for each in fixtures]
    began = time.process_time()
    for start in range(0, len(played), 2000):
        record.append(session, played[start : start + 2000])
    assert record.played(run) == set(fixtures)
    assert time.process_time() - began < 5
    record.close()
    assert record.path.stat().st_size < 2 * 2**20


def test_matches_of_the_longest_length_can_be_recorded(record: Record) -> None:
    _, session = begin(record)
    moves = ("01" * 50_000, "10" * 50_000)
    fixtures = [Fixture((DIGESTS[0],) * 2, repetition) for repetition in range(12)]
    played = [Outcome(each, 100_000, moves, (1.0, 2.0), intended=moves) for each in fixtures]
    matches = record.append(session, played)
    assert record.outcome(matches[-1]).outcome == played[-1]
