"""The text that an oracle gets about a program: few of many matches, and the beginning and end of long ones."""

import re

import pytest

from tests.evolve.conftest import Evaluate, always, program, setting_of
from tournament.evolve.evaluate import Evaluator
from tournament.evolve.feedback import (
    MOST_CHARACTERS,
    MOST_FAULTS,
    describe_faults,
    describe_matches,
    describe_payoffs,
)
from tournament.evolve.response import Task
from tournament.match import Fault

CHANCE = "def act(view):\n    return view.rng.choice(view.legal)\n"
RAISES = "def act(view):\n    assert view.rng.random() < 0.8, 'no luck'\n    return 'b'\n"


def report_of(
    evaluate: Evaluate, *sources: str, rounds: int = 1, episodes: int = 20
) -> tuple[str, list[float]]:
    """Return the text for seat 0 about a profile's matches in climbing, and the totals of matches without a fault."""
    setting = setting_of("climbing", rounds)

    async def work(evaluator: Evaluator) -> tuple[str, list[float]]:
        profile = tuple(map(program, sources))
        feedback = await evaluator.feedback(profile, 0, episodes)
        assert feedback.evaluation is not None
        task = Task("chain/0/0/0", setting, profile, 0, "welfare", feedback)
        outcomes = [o for o in feedback.evaluation.outcomes if not o.faults]
        return describe_matches(task, evaluator), [sum(map(float, o.payoffs)) for o in outcomes]

    return evaluate(setting, work)


def totals(text: str) -> list[float]:
    found = re.findall(r"^match \d+: payoffs by seat (.*), (.*)$", text, re.MULTILINE)
    return [float(mine) + float(theirs) for mine, theirs in found]


def test_of_many_matches_the_worst_the_best_and_one_between_are_shown(evaluate: Evaluate) -> None:
    text, every = report_of(evaluate, CHANCE, CHANCE)
    shown = totals(text)
    assert len(set(every)) > 3
    assert (len(shown), shown[0], shown[-1]) == (3, min(every), max(every))
    assert min(every) < shown[1] < max(every)


def test_equal_matches_are_shown_once(evaluate: Evaluate) -> None:
    text, every = report_of(evaluate, always("a"), always("b"))
    assert every == [-60.0] * 20
    assert text == "match 1: payoffs by seat -30, -30\nround 1: a, b, paid -30, -30"


def test_a_match_with_a_fault_is_shown_first(evaluate: Evaluate) -> None:
    text, every = report_of(evaluate, always("a"), RAISES)
    assert 0 < len(every) < 20
    first, *_ = text.split("\n\n")
    assert "seat 1 broke a rule in round 1: error" in first


@pytest.mark.parametrize("episodes", [1, 20])
def test_long_matches_are_cut_in_the_middle_to_fit_a_prompt(
    evaluate: Evaluate, episodes: int
) -> None:
    text, _ = report_of(evaluate, CHANCE, CHANCE, rounds=300, episodes=episodes)
    assert MOST_CHARACTERS / 2 < len(text) < MOST_CHARACTERS + 200
    for match in text.split("\n\n"):
        kept = [int(number) for number in re.findall(r"^round (\d+):", match, re.MULTILINE)]
        [left_out] = re.findall(r"^\.\.\. \((\d+) rounds left out\)$", match, re.MULTILINE)
        assert (kept[0], kept[-1]) == (1, 300)
        assert len(kept) + int(left_out) == 300


def test_the_value_of_a_program_is_shown_as_its_mean_payoffs(evaluate: Evaluate) -> None:
    setting = setting_of("climbing")

    async def work(evaluator: Evaluator) -> list[str]:
        profile = (program(always("b")), program(always("c")))
        each = [(await evaluator.rollouts([profile], episodes))[0] for episodes in (1, 4)]
        return [describe_payoffs(evaluation, 1) for evaluation in each]

    mean_payoffs = "6 for your seat, 12 for all seats together, on average."
    assert evaluate(setting, work) == [
        f"Over 1 match: {mean_payoffs}",
        f"Over 4 matches: {mean_payoffs}",
    ]


def test_few_faults_are_shown_each_with_the_end_of_its_traceback() -> None:
    faults = [Fault(0, "error", n, f"fault {n}", "x" * 5000 + f"line {n}") for n in range(9)]
    text = describe_faults(faults)
    assert [f"fault {n}" in text for n in range(9)] == [n < MOST_FAULTS for n in range(9)]
    assert "error in round 1, seat 0: fault 0" in text and "xline 0\n" in text
    assert len(text) < 5000
