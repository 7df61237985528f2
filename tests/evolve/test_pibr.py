"""A chain goes through rounds, seats and steps, records gaps, stops early, and keeps its best profile."""

import pytest

from tests.evolve.conftest import RunChain, ScriptedOracle, always, setting_of
from tournament.evolve.evaluate import Evaluation, Feedback
from tournament.evolve.feedback import describe_faults
from tournament.evolve.pibr import EvolutionPlan, Step, named
from tournament.evolve.response import START, Response, Task
from tournament.program import Program

CLIMBING = setting_of("climbing")
PD = setting_of("prisoners_dilemma")
A, B, C = always("a"), always("b"), always("c")
RAISES = "def act(view):\n    return 1 / 0\n"


def welfare(steps: list[Step]) -> list[float | None]:
    return [step.evaluation.welfare if step.evaluation else None for step in steps]


def positions(steps: list[Step]) -> list[tuple[int, int, int]]:
    return [(step.round, step.seat, step.turn) for step in steps]


def sources(task: Task) -> list[str]:
    return [each.source for each in task.profile]


def test_in_turn_each_seat_answers_the_newest_programs_of_the_others(run_chain: RunChain) -> None:
    one, two = ScriptedOracle(B, C), ScriptedOracle(C, B)
    _, steps = run_chain(CLIMBING, [one, two], EvolutionPlan(rounds=2, steps=1))
    assert positions(steps) == [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    assert [step.number for step in steps] == [0, 1, 2, 3]
    assert [sources(task) for task in one.tasks] == [[START.source, START.source], [B, C]]
    assert [sources(task) for task in two.tasks] == [[B, START.source], [C, C]]
    assert welfare(steps) == [-60.0, 12.0, 10.0, 0.0]


def test_simultaneous_seats_answer_the_programs_of_the_round_before(run_chain: RunChain) -> None:
    one, two = ScriptedOracle(B, C), ScriptedOracle(C, B)
    plan = EvolutionPlan(rounds=2, steps=1, order="simultaneous")
    chain, steps = run_chain(CLIMBING, [one, two], plan)
    assert [sources(task) for task in two.tasks] == [[START.source, START.source], [B, C]]
    # The steps play (b, a) and (a, c), then their joined profile is measured; the second round does the same.
    assert welfare(steps) == [-60.0, 0.0, 12.0, 10.0, 14.0, 0.0]
    assert [step.outcome for step in steps] == ["ok", "ok", "joined"] * 2
    assert chain.best.welfare == 14.0


def test_a_chain_keeps_the_best_profile_of_all_its_steps(run_chain: RunChain) -> None:
    chain, steps = run_chain(
        CLIMBING, [ScriptedOracle(B, C), ScriptedOracle(B, C)], EvolutionPlan(rounds=2, steps=1)
    )
    assert welfare(steps) == [-60.0, 14.0, 0.0, 10.0]
    assert [step.best for step in steps] == [True, True, False, False]
    assert chain.best.welfare == 14.0
    assert [each.source for each in chain.best.profile or ()] == [B, B]


def test_of_equally_good_profiles_the_first_counts_as_the_best(run_chain: RunChain) -> None:
    chain, steps = run_chain(
        CLIMBING,
        [ScriptedOracle(B, f"{B}# again\n"), ScriptedOracle(B)],
        EvolutionPlan(rounds=2, steps=1),
    )
    assert welfare(steps) == [-60.0, 14.0, 14.0, 14.0]
    assert [step.best for step in steps] == [True, True, False, False]
    assert [each.source for each in chain.best.profile or ()] == [B, B]


def test_each_step_continues_from_the_step_before(run_chain: RunChain) -> None:
    one = ScriptedOracle(B, C, f"{A}\n# once more\n", B)
    _, steps = run_chain(
        CLIMBING, [one, ScriptedOracle(B)], EvolutionPlan(rounds=1, steps=3), [C, B]
    )
    assert positions(steps)[:3] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    assert [task.program.source for task in one.tasks] == [C, B, C]
    assert [task.name for task in one.tasks] == [f"chain/0/0/{turn}" for turn in range(3)]


def test_the_name_of_a_program_depends_only_on_its_text(run_chain: RunChain) -> None:
    new = f"{A}\n# once more\n"
    _, steps = run_chain(
        CLIMBING,
        [ScriptedOracle(B, new), ScriptedOracle(new)],
        EvolutionPlan(rounds=1, steps=2),
        [C, B],
    )
    names = [step.response.program.name for step in steps if step.response.program]
    named_so = f"pibr_{Program('any', new).digest[:10]}"
    # The first source is in the profile already, so it keeps the name that it has there.
    assert names == ["bot", named_so, named_so]
    file = Program("mine", A, "bots/mine.py")
    assert named(file) == file


def test_a_seat_stops_when_the_optimum_is_reached(run_chain: RunChain) -> None:
    _, steps = run_chain(
        CLIMBING,
        [ScriptedOracle(B, A), ScriptedOracle(A)],
        EvolutionPlan(rounds=2, steps=5),
        [C, A],
    )
    assert positions(steps) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    assert welfare(steps)[1:] == [22.0] * 4


def test_a_seat_with_its_own_objective_does_not_stop_at_the_common_optimum(
    run_chain: RunChain,
) -> None:
    one = ScriptedOracle(always("C"), always("D"))
    plan = EvolutionPlan(rounds=1, steps=2, objective="own")
    _, steps = run_chain(PD, [one, ScriptedOracle(always("C"))], plan)
    assert positions(steps)[:2] == [(0, 0, 0), (0, 0, 1)]


def test_a_seat_stops_when_nothing_changes(run_chain: RunChain) -> None:
    _, steps = run_chain(CLIMBING, [ScriptedOracle(B)], EvolutionPlan(rounds=1, steps=5))
    assert positions(steps) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]


def test_a_program_that_fails_is_a_gap_and_its_traceback_is_in_the_next_task(
    run_chain: RunChain,
) -> None:
    one = ScriptedOracle(B, RAISES, C)
    chain, steps = run_chain(CLIMBING, [one, ScriptedOracle(B)], EvolutionPlan(rounds=1, steps=3))
    assert welfare(steps)[:3] == [-60.0, None, 0.0]
    assert [step.outcome for step in steps][:3] == ["ok", "error", "ok"]
    assert "ZeroDivisionError" in steps[1].note
    [fault, *_] = one.tasks[2].feedback.faults
    assert one.tasks[2].program.source == RAISES
    assert "ZeroDivisionError" in describe_faults([fault]) and "line 2" in describe_faults([fault])
    assert chain.best.welfare == 0.0


def test_after_a_gap_at_the_end_of_a_turn_the_last_program_that_ran_stays(
    run_chain: RunChain,
) -> None:
    two = ScriptedOracle(B)
    run_chain(CLIMBING, [ScriptedOracle(B, RAISES), two], EvolutionPlan(rounds=1, steps=2))
    assert sources(two.tasks[0]) == [B, START.source]


def test_an_answer_without_a_program_is_a_gap_and_the_same_task_is_given_again(
    run_chain: RunChain,
) -> None:
    one = ScriptedOracle(None, B)
    _, steps = run_chain(CLIMBING, [one, ScriptedOracle(B)], EvolutionPlan(rounds=1, steps=2))
    assert [step.outcome for step in steps][:2] == ["no_code", "ok"]
    assert [sources(task)[0] for task in one.tasks] == [START.source] * 2


def test_each_of_three_seats_can_have_its_own_oracle(run_chain: RunChain) -> None:
    setting = setting_of("public_goods", seats="3")
    least, most = setting.game.moves[0][0], setting.game.moves[0][-1]
    gives = f"def act(view):\n    return {most!r}\n"
    oracles = [ScriptedOracle(gives), ScriptedOracle(None), ScriptedOracle(gives)]
    chain, steps = run_chain(setting, oracles, EvolutionPlan(rounds=1, steps=1))
    assert positions(steps) == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]
    assert [each.source for each in steps[-1].profile] == [gives, START.source, gives]
    assert welfare(steps)[1] is None and chain.best.profile == steps[-1].profile
    assert least != most


class Stops:
    """An oracle that stops after its first answer."""

    def __init__(self) -> None:
        self.asked = 0

    async def respond(self, task: Task) -> Response:
        """Return a program the first time, and afterwards a response that ends the chain."""
        self.asked += 1
        if self.asked == 1:
            return Response(Program("bot", B))
        return Response(None, "budget", note="the budget is used up", stop=True)


@pytest.mark.parametrize("order", ["turn", "simultaneous"])
def test_an_oracle_that_stops_ends_the_chain(run_chain: RunChain, order: str) -> None:
    chain, steps = run_chain(CLIMBING, [Stops()], EvolutionPlan(rounds=3, steps=3, order=order))
    assert positions(steps) == [(0, 0, 0)]
    assert chain.stopped == "budget: the budget is used up"


def test_an_objective_is_the_own_payoff_the_welfare_or_both() -> None:
    class Paid(Evaluation):
        payoffs = (1.0, 5.0)  # type: ignore[assignment]

    profile = (START, START)
    tasks = [
        Task("step", PD, profile, 0, objective, Feedback((), None))
        for objective in ("welfare", "own", "both")
    ]
    assert [task.value(Paid((), ())) for task in tasks] == [6.0, 1.0, 7.0]
    assert tasks[0].value(Evaluation((), ())) == float("-inf")
