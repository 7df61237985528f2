"""The evaluator runs unit tests first and rollouts afterwards, and reports payoffs and faults."""

from typing import Any

import pytest

from tests.evolve.conftest import Evaluate, always, program, setting_of
from tournament.evolve.evaluate import Evaluator, Feedback
from tournament.game import MatrixGame, Setting, table_game

PD = setting_of("prisoners_dilemma", rounds=6)

WRONG = {
    "load": ("def act(view:\n", "SyntaxError"),
    "error": ("def act(view):\n    return view.theirs[-1]\n", "IndexError"),
    # Legal at first, and illegal only after the opponent has defected.
    "illegal": ("def act(view):\n    return 'X' if 'D' in view.theirs else 'C'\n", "X"),
    "fuel": (
        "def act(view):\n    while view.theirs[-1:] == ('C',) or view.theirs: pass\n    return 'C'\n",
        "",
    ),
    "leaky": (
        "import json\n\n\ndef act(view):\n"
        "    json.calls = getattr(json, 'calls', 0) + 1\n"
        "    return 'C' if json.calls <= 6 else 'D'\n",
        "again",
    ),
}


def feedback(
    evaluate: Evaluate, setting: Setting, *sources: str, seat: int = 0, episodes: int = 2
) -> Feedback:
    profile = tuple(map(program, sources))

    async def work(evaluator: Evaluator) -> Feedback:
        return await evaluator.feedback(profile, seat, episodes)

    return evaluate(setting, work)  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", WRONG)
def test_a_program_that_fails_its_tests_has_no_value_and_its_traceback_is_kept(
    evaluate: Evaluate, kind: str
) -> None:
    source, expected = WRONG[kind]
    found = feedback(evaluate, PD, source, always("C"))
    assert found.problem == kind
    assert found.evaluation is None
    assert any(expected in fault.message + fault.traceback for fault in found.faults)


def test_a_program_that_runs_is_valued_by_the_payoffs_of_its_matches(evaluate: Evaluate) -> None:
    found = feedback(evaluate, PD, always("C"), always("D"))
    assert not found.problem and found.evaluation
    assert found.evaluation.payoffs == (0.0, 30.0)
    assert found.evaluation.welfare == 30.0
    assert found.evaluation.samples == (30.0, 30.0)


def test_a_fault_of_another_seat_is_not_charged_to_the_program_but_leaves_a_gap(
    evaluate: Evaluate,
) -> None:
    found = feedback(evaluate, PD, always("C"), "def act(view):\n    return 1 / 0\n")
    assert [fault.seat for fault in found.faults] == [1]
    assert found.problem == "error"
    assert found.evaluation and found.evaluation.payoffs is None


@pytest.mark.parametrize("lost_with_others", [True, False])
def test_a_program_is_blamed_for_a_lost_worker_only_if_no_other_program_can_be_at_fault(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch, lost_with_others: bool
) -> None:
    play = Evaluator._play
    other = program(always("D")).digest

    async def lose(*arguments: Any, **options: Any) -> Any:
        outcomes = await play(*arguments, **options)
        return {f: o for f, o in outcomes.items() if (other in f.lineup) is not lost_with_others}

    monkeypatch.setattr(Evaluator, "_play", lose)
    found = feedback(evaluate, PD, always("C"), always("D"))
    assert found.problem == "lost"
    assert [fault.kind for fault in found.faults] == ([] if lost_with_others else ["lost"])


def test_caches_are_bounded(evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournament.evolve.evaluate.MOST_CACHED", 2)

    async def work(evaluator: Evaluator) -> tuple[int, int]:
        for number in range(6):
            source = f"{always('C')}# {number}\n"
            await evaluator.feedback((program(source), program(always("D"))), 0, 1)
        return len(evaluator._tests), len(evaluator._evaluations)

    assert max(evaluate(PD, work)) <= 3


def own_moves() -> MatrixGame:
    rows = [[(1, 2), (3, 4)], [(5, 6), (7, 8)]]
    game = table_game("own_moves", ("a", "b"), rows, {})
    return MatrixGame("own_moves", (("a", "b"), ("x", "y")), game.payoff, game.worst)


def test_a_program_is_not_tested_in_seats_with_other_moves(evaluate: Evaluate) -> None:
    setting = Setting(own_moves())
    for seat in (0, 1):
        found = feedback(evaluate, setting, always("b"), always("x"), seat=seat)
        assert not found.problem and found.evaluation
        assert found.evaluation.payoffs == (5.0, 6.0)


def test_a_profile_of_three_seats_is_evaluated(evaluate: Evaluate) -> None:
    setting = setting_of("public_goods", seats="3")
    most = setting.game.moves[0][-1]
    source = f"def act(view):\n    return {most!r}\n"
    found = feedback(evaluate, setting, source, source, source, seat=2)
    assert not found.problem and found.evaluation
    assert len(found.evaluation.payoffs or ()) == 3


def test_a_profile_gets_the_same_result_whatever_else_is_evaluated(evaluate: Evaluate) -> None:
    """The name does not matter either. Matches with other repetitions give other results."""
    setting = setting_of("level_based_foraging")
    mixed = "def act(view):\n    return view.rng.choice(view.legal)\n"
    other = mixed + "\n# another\n"

    async def alone(evaluator: Evaluator) -> Any:
        [found] = await evaluator.rollouts([(program(mixed), program(other))], 4)
        [later] = await evaluator.rollouts([(program(mixed), program(other))], 2, first=2)
        return found, later

    async def among(evaluator: Evaluator) -> Any:
        bots = [program(source) for source in (mixed, other)]
        profiles = [(one, two) for one in bots for two in bots]
        return (await evaluator.rollouts(profiles, 4))[1]

    found, later = evaluate(setting, alone)
    everywhere = evaluate(setting, among)
    assert [o.moves for o in found.outcomes] == [o.moves for o in everywhere.outcomes]
    assert [o.moves for o in later.outcomes] == [o.moves for o in found.outcomes[2:]]


def test_a_result_that_is_known_is_not_played_again(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = (program(always("C")), program(always("D")))

    async def work(evaluator: Evaluator) -> tuple[Any, Any]:
        first = await evaluator.feedback(profile, 0, 3)
        monkeypatch.setattr(evaluator, "pool", None)
        return first, await evaluator.feedback(profile, 0, 3)

    first, second = evaluate(PD, work)
    assert first == second


def test_rounds_are_kept_with_observations_and_payoffs(evaluate: Evaluate) -> None:
    setting = setting_of("coin_game", horizon="3")

    async def work(evaluator: Evaluator) -> Any:
        profile = (program(always("up")), program(always("left")))
        [found] = await evaluator.rollouts([profile], 1)
        return found.outcomes[0], list(evaluator.rounds(found.outcomes[0], 1))

    outcome, rounds = evaluate(setting, work)
    assert [joint for joint, _, _ in rounds] == [(0, 2)] * 3
    assert [seen["step"] for _, _, seen in rounds] == [0, 1, 2]
    totals = [sum(paid[seat] for _, paid, _ in rounds) for seat in (0, 1)]
    assert totals == list(outcome.payoffs)
