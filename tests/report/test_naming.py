"""Names on the command line: every possible meaning is found, and a choice among several is reported."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tournament.errors import UsageError
from tournament.program import Program
from tournament.report.lineage import find_steps
from tournament.report.naming import Names, chains_to_plot
from tournament.store import Record, RecordedStep

START = Program("start", "# start\n")
PLAN = {"rounds": 1, "steps": 2, "objective": "welfare"}

Messages = list[str]


def program(text: str) -> Program:
    return Program(f"pibr_{text}", f"# {text}\n")


def step(number: int, seat: int, written: Program | None, outcome: str = "ok") -> RecordedStep:
    profile = (START, START) if written is None else (written, START)
    return RecordedStep(
        step=number,
        round=0,
        seat=seat,
        turn=number % 2,
        program=written,
        profile=profile,
        welfare=1.0 if written else None,
        payoffs=None,
        samples=None,
        outcome=outcome,
        critique="",
        problems=(),
        calls=(),
        best=False,
    )


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """A record with two chains of the same name but different steps in run 1, and one more in run 2."""
    with Record.open(tmp_path / "r.duckdb") as record:
        for key in "ab":
            record.begin_run(key, {}, 0, [["C"]])
            record.begin_session(record.begin_run(key, {}, 0, [["C"]]), {}, [])
        written = [
            (1, PLAN, ["one", None, "shared", "two"]),
            (1, PLAN | {"rounds": 2}, ["other", None, "shared", None]),
            (2, PLAN, [None, None, None, None]),
        ]
        for run, plan, texts in written:
            chain = record.begin_chain(run, "pibr_0_0", ["chat:m@http://host/v1"], plan)
            for number, text in enumerate(texts):
                made = text and program(text)
                recorded_step = step(number, number // 2, made or None, "ok" if made else "no_code")
                record.keep_step(chain, recorded_step)
        yield record


@pytest.fixture
def messages() -> Messages:
    return []


NamesOf = Callable[..., Names]


@pytest.fixture
def names(record: Record, messages: Messages) -> NamesOf:
    """A function that returns the names in the record, of a run or a chain if one is given."""
    return lambda *of: Names(record, messages.append, *of)


def refused(work: Callable[[], Any]) -> str:
    """Return the one line with which a call is refused."""
    with pytest.raises(UsageError) as raised:
        work()
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_of_several_chains_with_a_step_the_latest_is_taken_and_a_message_says_so(
    names: NamesOf, messages: Messages
) -> None:
    assert names(1).program("pibr_0_0_0_0_0") == program("other")
    assert messages == [
        "pibr_0_0_0_0_0 is in several chains: chain 2 (K 2) is used; choose another with --chain: 1 (K 1)"
    ]


def test_no_message_is_needed_if_a_step_brought_the_same_program_in_all_chains(
    names: NamesOf, messages: Messages
) -> None:
    assert names(1).program("pibr_0_0_0_1_0") == program("shared")
    assert messages == []


def test_if_the_chain_is_given_a_step_has_one_meaning(names: NamesOf, messages: Messages) -> None:
    assert names(None, 1).program("pibr_0_0_0_0_0") == program("one")
    assert names(1, 1).step("pibr_0_0_0_0_0")[0].chain == 1
    assert messages == []


def test_the_lineage_of_a_program_in_several_chains_is_of_the_latest_and_a_message_says_so(
    names: NamesOf, record: Record, messages: Messages
) -> None:
    chain, steps = find_steps(record, "pibr_shared", names())
    assert chain.chain == 2
    assert [each.step for each, _ in steps] == [2]
    assert messages == [
        "pibr_shared is in several chains: chain 2 (K 2) is used; choose another with --chain: 1 (K 1)"
    ]


def test_the_lineage_of_a_step_ends_with_this_step(names: NamesOf, record: Record) -> None:
    _, steps = find_steps(record, "pibr_0_0_0_1_1", names(None, 1))
    assert [each.step for each, _ in steps] == [2, 3]


def test_the_lineage_of_a_chain_has_the_steps_of_all_seats(names: NamesOf, record: Record) -> None:
    chain, steps = find_steps(record, "pibr_0_0", names(None, 1))
    assert chain.chain == 1
    assert [(each.step, before.name) for each, before in steps] == [
        (0, "start"),
        (1, "pibr_one"),
        (2, "start"),
        (3, "pibr_shared"),
    ]


def test_a_chain_named_instead_of_a_program_is_refused_with_its_steps(names: NamesOf) -> None:
    told = refused(lambda: names(None, 1).program("pibr_0_0"))
    assert told == (
        "pibr_0_0 is a chain, not a program; steps of chain 1 with a program: "
        "pibr_0_0_0_0_0, pibr_0_0_0_1_0, pibr_0_0_0_1_1"
    )


@pytest.mark.parametrize("find", ["program", "step"])
def test_a_gap_is_refused_with_its_outcome_and_the_steps_that_brought_programs(
    names: NamesOf, find: str
) -> None:
    told = refused(lambda: getattr(names(None, 2), find)("pibr_0_0_0_0_1"))
    assert told == (
        "pibr_0_0_0_0_1 produced no program (no_code); steps of chain 2 with a program: "
        "pibr_0_0_0_0_0, pibr_0_0_0_1_0"
    )
    assert "with a program: none" in refused(lambda: names(2).program("pibr_0_0_0_0_1"))


def test_if_the_latest_step_is_a_gap_a_message_names_the_other_chain(
    names: NamesOf, messages: Messages
) -> None:
    assert "produced no program" in refused(lambda: names(1).program("pibr_0_0_0_1_1"))
    assert messages == [
        "pibr_0_0_0_1_1 is in several chains: chain 2 (K 2) is used; choose another with --chain: 1 (K 1)"
    ]


def test_a_missing_step_chain_or_program_is_refused_with_those_that_exist(names: NamesOf) -> None:
    assert "no step is called pibr_0_0_9_9_9; steps of" in refused(
        lambda: names().program("pibr_0_0_9_9_9")
    )
    message = "run 1 has no chain 3; there are: 1, 2"
    assert refused(lambda: names(1, 3)) == message
    assert refused(lambda: names(None, 9)) == "the record has no chain 9; there are: 1, 2, 3"
    assert "did you mean: pibr_one" in refused(lambda: names().program("pibr_on"))


def test_a_program_of_another_run_is_not_found(names: NamesOf) -> None:
    assert names(1).program("pibr_one") == program("one")
    assert "no program of run 2 called 'pibr_one'" in refused(lambda: names(2).program("pibr_one"))


def test_a_program_of_another_chain_is_not_of_this_one(names: NamesOf) -> None:
    assert names(None, 1).program("pibr_two") == program("two")
    with_chain = names(1, 2)
    assert with_chain.program("start") == START
    assert "no program of run 1 and chain 2 called 'pibr_two'" in refused(
        lambda: with_chain.program("pibr_two")
    )


def test_chains_of_several_plans_are_not_drawn_as_one(record: Record, messages: Messages) -> None:
    assert [chain.chain for chain in chains_to_plot(record, 1, [], messages.append)] == [2]
    assert messages == ["chain 2 (K 2) is drawn; choose another with --chain: 1 (K 1)"]
    assert [chain.chain for chain in chains_to_plot(record, 1, [1, 2], messages.append)] == [1, 2]
    assert len(messages) == 1


def test_a_run_without_chains_is_refused_with_the_runs_that_have_some(record: Record) -> None:
    run = record.begin_run("c", {}, 0, [["C"]])
    told = refused(lambda: chains_to_plot(record, run, [], print))
    assert told.startswith("run 3 has no chains") and told.endswith("with chains: 1, 2")


def test_a_message_lists_at_most_thirty_chains(record: Record, messages: Messages) -> None:
    for rounds in range(40):
        record.begin_chain(1, "pibr_0_1", ["search"], PLAN | {"rounds": rounds})
    found = Names(record, messages.append).chain("pibr_0_1")
    assert found is not None and found.plan["rounds"] == 39
    [line] = messages
    assert line.count("(K ") == 31 and line.endswith(" and 9 more")


def test_the_view_evolution_tells_chains_of_one_name_apart_by_their_plan(record: Record) -> None:
    rows = record.sql("select chain, K, T from evolution where name = 'pibr_0_0_0_0_0'")[1]
    assert rows == [(1, 1, 2), (2, 2, 2), (3, 1, 2)]
