"""Names on the command line: whatever may be meant by one is found, and none stands for something silently."""

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

Said = list[str]


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
    """Two chains of one name in a run, of which the steps differ, and one of another run."""
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
                came = step(number, number // 2, made or None, "ok" if made else "no_code")
                record.keep_step(chain, came)
        yield record


@pytest.fixture
def said() -> Said:
    return []


Look = Callable[..., Names]


@pytest.fixture
def names(record: Record, said: Said) -> Look:
    """The names in the record."""
    return lambda *of: Names(record, said.append, *of)


def refused(work: Callable[[], Any]) -> str:
    """The line by which something is refused."""
    with pytest.raises(UsageError) as raised:
        work()
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_step_of_several_chains_is_that_of_the_latest_which_is_said(
    names: Look, said: Said
) -> None:
    assert names(1).program("pibr_0_0_0_0_0") == program("other")
    assert said == [
        "pibr_0_0_0_0_0 is in several chains: chain 2 (K 2) is used; choose another with --chain: 1 (K 1)"
    ]


def test_a_step_that_produced_the_same_program_in_all_chains_needs_no_word(
    names: Look, said: Said
) -> None:
    assert names(1).program("pibr_0_0_0_1_0") == program("shared")
    assert said == []


def test_with_a_chain_a_step_is_one_alone(names: Look, said: Said) -> None:
    assert names(None, 1).program("pibr_0_0_0_0_0") == program("one")
    assert names(1, 1).step("pibr_0_0_0_0_0")[0].chain == 1
    assert said == []


def test_the_history_of_a_program_of_several_chains_is_that_of_the_latest_which_is_said(
    names: Look, record: Record, said: Said
) -> None:
    chain, told = find_steps(record, "pibr_shared", names())
    assert chain.chain == 2
    assert [each.step for each, _ in told] == [2]
    assert said == [
        "pibr_shared is in several chains: chain 2 (K 2) is used; choose another with --chain: 1 (K 1)"
    ]


def test_the_history_of_a_step_ends_with_it(names: Look, record: Record) -> None:
    _, told = find_steps(record, "pibr_0_0_0_1_1", names(None, 1))
    assert [each.step for each, _ in told] == [2, 3]


def test_the_history_of_a_chain_is_that_of_all_its_seats(names: Look, record: Record) -> None:
    chain, told = find_steps(record, "pibr_0_0", names(None, 1))
    assert chain.chain == 1
    assert [(each.step, before.name) for each, before in told] == [
        (0, "start"),
        (1, "pibr_one"),
        (2, "start"),
        (3, "pibr_shared"),
    ]


def test_of_a_chain_that_is_taken_for_a_program_its_steps_are_told(names: Look) -> None:
    told = refused(lambda: names(None, 1).program("pibr_0_0"))
    assert told == (
        "pibr_0_0 is a chain, not a program; steps of chain 1 with a program: "
        "pibr_0_0_0_0_0, pibr_0_0_0_1_0, pibr_0_0_0_1_1"
    )


@pytest.mark.parametrize("find", ["program", "step"])
def test_of_a_gap_it_is_told_what_it_is_and_which_steps_are_none(names: Look, find: str) -> None:
    told = refused(lambda: getattr(names(None, 2), find)("pibr_0_0_0_0_1"))
    assert told == (
        "pibr_0_0_0_0_1 produced no program (no_code); steps of chain 2 with a program: "
        "pibr_0_0_0_0_0, pibr_0_0_0_1_0"
    )
    assert "with a program: none" in refused(lambda: names(2).program("pibr_0_0_0_0_1"))


def test_where_the_latest_is_a_gap_that_is_told_and_where_there_is_a_program(
    names: Look, said: Said
) -> None:
    assert "produced no program" in refused(lambda: names(1).program("pibr_0_0_0_1_1"))
    assert said == [
        "pibr_0_0_0_1_1 is in several chains: chain 2 (K 2) is used; choose another with --chain: 1 (K 1)"
    ]


def test_a_step_or_a_chain_that_is_not_there_is_told_from_one_that_is(names: Look) -> None:
    assert "no step is called pibr_0_0_9_9_9; steps of" in refused(
        lambda: names().program("pibr_0_0_9_9_9")
    )
    told = "run 1 has no chain 3; there are: 1, 2"
    assert refused(lambda: names(1, 3)) == told
    assert refused(lambda: names(None, 9)) == "the record has no chain 9; there are: 1, 2, 3"
    assert "did you mean: pibr_one" in refused(lambda: names().program("pibr_on"))


def test_a_program_of_another_run_is_not_of_this_one(names: Look) -> None:
    assert names(1).program("pibr_one") == program("one")
    assert "no program of run 2 called 'pibr_one'" in refused(lambda: names(2).program("pibr_one"))


def test_a_program_of_another_chain_is_not_of_this_one(names: Look) -> None:
    assert names(None, 1).program("pibr_two") == program("two")
    with_chain = names(1, 2)
    assert with_chain.program("start") == START
    assert "no program of run 1 and chain 2 called 'pibr_two'" in refused(
        lambda: with_chain.program("pibr_two")
    )


def test_chains_of_several_plans_are_not_drawn_as_one(record: Record, said: Said) -> None:
    assert [chain.chain for chain in chains_to_plot(record, 1, [], said.append)] == [2]
    assert said == ["chain 2 (K 2) is drawn; choose another with --chain: 1 (K 1)"]
    assert [chain.chain for chain in chains_to_plot(record, 1, [1, 2], said.append)] == [1, 2]
    assert len(said) == 1


def test_a_run_in_which_nothing_grew_names_those_in_which_something_did(record: Record) -> None:
    run = record.begin_run("c", {}, 0, [["C"]])
    told = refused(lambda: chains_to_plot(record, run, [], print))
    assert told.startswith("run 3 has no chains") and told.endswith("with chains: 1, 2")


def test_a_line_lists_thirty_at_most(record: Record, said: Said) -> None:
    for rounds in range(40):
        record.begin_chain(1, "pibr_0_1", ["search"], PLAN | {"rounds": rounds})
    found = Names(record, said.append).chain("pibr_0_1")
    assert found is not None and found.plan["rounds"] == 39
    [line] = said
    assert line.count("(K ") == 31 and line.endswith(" and 9 more")


def test_chains_of_one_name_differ_in_the_view_of_growth(record: Record) -> None:
    rows = record.sql("select chain, K, T from evolution where name = 'pibr_0_0_0_0_0'")[1]
    assert rows == [(1, 1, 2), (2, 2, 2), (3, 1, 2)]
