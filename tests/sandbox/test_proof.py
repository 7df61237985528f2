"""Deciding provability by running programs at worlds agrees with the solver for modal formulas."""

import csv
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings

from tests.theory.formulas import agent_formulas, statement
from tournament.sandbox.proof import MOST_STATEMENTS, History, Pair, Proof, Run, Verdict
from tournament.sandbox.statement import (
    FALSE,
    IsProvable,
    Plays,
    Provable,
    Statement,
    evaluate,
    parse,
    substitute,
)
from tournament.theory.modal import Agent, Formula
from tournament.theory.modal import parse as parse_formula
from tournament.theory.modal import play as play_formulas

DATA = Path(__file__).parent.parent / "data"
Program = Callable[[Pair, IsProvable], str | None]


def decide(statement: Statement, program: Program) -> Verdict:
    """The verdict on a statement, whose programs are run by a function of the tests that returns their moves."""

    def run(pair: Pair, history: History, is_provable: IsProvable, fuel: int) -> Run:
        asked: list[tuple[Statement, bool]] = []

        def ask(body: Statement) -> bool:
            asked.append((body, is_provable(body)))
            return asked[-1][1]

        return Run(asked, program(pair, ask))

    return Proof(run, fuel=10**15).decide(statement)


def native(formula: Formula, names: tuple[str, str]) -> Program:
    """Return a program that plays C where a modal formula holds, and that only uses `ask`."""
    me, them = names
    parsed = substitute(parse(statement(formula)), lambda plays: _named(plays, me, them))

    def run(pair: Pair, ask: IsProvable) -> str:
        return "C" if evaluate(parsed, _no_move, lambda body: ask(body)) else "D"

    return run


def _named(plays: Plays, me: str, them: str) -> Plays:
    name = {"me": me, "them": them}
    return Plays(name[plays.program], name[plays.against], plays.move)


def _no_move(plays: Plays) -> bool:
    raise AssertionError("every atom of an agent stands under a box")


def outcome(x: Formula, y: Formula) -> str:
    """Return the joint move of two formulas, decided by running them."""
    programs = {"x": native(x, ("x", "y")), "y": native(y, ("y", "x"))}
    played = ""
    for program, against in (("x", "y"), ("y", "x")):
        verdict = decide(
            Plays(program, against, "C"), lambda pair, ask: programs[pair[0]](pair, ask)
        )
        played += "C" if verdict.holds else "D"
    return played


def test_all_recorded_pairs_of_formulas_have_the_recorded_outcome() -> None:
    with (DATA / "modal_random_vectors.tsv").open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            x, y = parse_formula(row["formula_X"]), parse_formula(row["formula_Y"])
            assert outcome(x, y) == row["outcome(X,Y)"], row


@settings(max_examples=150)
@given(agent_formulas(), agent_formulas())
def test_running_at_worlds_agrees_with_solving_the_formulas(x: Formula, y: Formula) -> None:
    assert outcome(x, y) == play_formulas(Agent("x", x), Agent("y", y))


def test_two_programs_that_cooperate_on_proof_cooperate_with_each_other() -> None:
    fair = Provable(Plays("y", "x", "C")).body

    def run(pair: Pair, ask: IsProvable) -> str:
        body: Statement = fair if pair[0] == "x" else Plays("x", "y", "C")
        return "C" if ask(body) else "D"

    verdict = decide(Plays("x", "y", "C"), run)
    assert verdict.provable and verdict.holds
    assert [sorted(world.values()) for world in verdict.worlds][-1] == ["C", "C"]


def test_consistency_is_not_provable() -> None:
    verdict = decide(parse("not proves(false)"), lambda pair, ask: "C")
    assert verdict.holds and not verdict.provable


def test_no_move_of_a_program_without_a_move_is_provable_or_refutable() -> None:
    plays = Plays("x", "y", "C")
    for text in (plays, parse("not x(y) == C")):
        verdict = decide(text, lambda pair, ask: None)
        assert not verdict.provable and not verdict.holds


def test_too_many_statements_reach_a_bound() -> None:
    def run(pair: Pair, ask: IsProvable) -> str:
        for number in range(MOST_STATEMENTS + 1):
            ask(Plays("x", "y", str(number)))
        return "C"

    verdict = decide(Plays("x", "y", "C"), run)
    assert "statements" in verdict.bound
    assert not verdict.provable and not verdict.holds


def test_false_is_not_provable() -> None:
    assert not decide(FALSE, lambda pair, ask: "C").provable
