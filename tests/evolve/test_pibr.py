"""Rounds over the seats, steps within them, gaps, early stops, and the best profile there ever was."""

import pytest

from tests.evolve.conftest import Grow, Says, always, setting_of
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


def places(steps: list[Step]) -> list[tuple[int, int, int]]:
    return [(step.round, step.seat, step.turn) for step in steps]


def sources(task: Task) -> list[str]:
    return [each.source for each in task.profile]


def test_seats_answer_in_turn_to_what_the_others_have_become(grow: Grow) -> None:
    one, two = Says(B, C), Says(C, B)
    _, steps = grow(CLIMBING, [one, two], EvolutionPlan(rounds=2, steps=1))
    assert places(steps) == [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    assert [step.number for step in steps] == [0, 1, 2, 3]
    assert [sources(task) for task in one.tasks] == [[START.source, START.source], [B, C]]
    assert [sources(task) for task in two.tasks] == [[B, START.source], [C, C]]
    assert welfare(steps) == [-60.0, 12.0, 10.0, 0.0]


def test_seats_answer_at_once_to_what_the_others_were(grow: Grow) -> None:
    one, two = Says(B, C), Says(C, B)
    plan = EvolutionPlan(rounds=2, steps=1, order="simultaneous")
    chain, steps = grow(CLIMBING, [one, two], plan)
    assert [sources(task) for task in two.tasks] == [[START.source, START.source], [B, C]]
    # (b, a), (a, c), and then what they are together, and the same again from there.
    assert welfare(steps) == [-60.0, 0.0, 12.0, 10.0, 14.0, 0.0]
    assert [step.outcome for step in steps] == ["ok", "ok", "joined"] * 2
    assert chain.best.welfare == 14.0


def test_the_best_profile_that_was_ever_there_is_kept(grow: Grow) -> None:
    chain, steps = grow(CLIMBING, [Says(B, C), Says(B, C)], EvolutionPlan(rounds=2, steps=1))
    assert welfare(steps) == [-60.0, 14.0, 0.0, 10.0]
    assert [step.best for step in steps] == [True, True, False, False]
    assert chain.best.welfare == 14.0
    assert [each.source for each in chain.best.profile or ()] == [B, B]


def test_of_profiles_that_are_worth_the_same_the_first_is_the_best(grow: Grow) -> None:
    chain, steps = grow(
        CLIMBING, [Says(B, f"{B}# again\n"), Says(B)], EvolutionPlan(rounds=2, steps=1)
    )
    assert welfare(steps) == [-60.0, 14.0, 14.0, 14.0]
    assert [step.best for step in steps] == [True, True, False, False]
    assert [each.source for each in chain.best.profile or ()] == [B, B]


def test_steps_go_on_from_each_other(grow: Grow) -> None:
    one = Says(B, C, f"{A}\n# once more\n", B)
    _, steps = grow(CLIMBING, [one, Says(B)], EvolutionPlan(rounds=1, steps=3), [C, B])
    assert places(steps)[:3] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
    assert [task.program.source for task in one.tasks] == [C, B, C]
    assert [task.name for task in one.tasks] == [f"chain/0/0/{turn}" for turn in range(3)]


def test_a_program_is_named_after_its_text_alone(grow: Grow) -> None:
    new = f"{A}\n# once more\n"
    _, steps = grow(CLIMBING, [Says(B, new), Says(new)], EvolutionPlan(rounds=1, steps=2), [C, B])
    names = [step.response.program.name for step in steps if step.response.program]
    named_so = f"pibr_{Program('any', new).digest[:10]}"
    # The first is in the profile already, by the name that it has there.
    assert names == ["bot", named_so, named_so]
    file = Program("mine", A, "bots/mine.py")
    assert named(file) == file


def test_a_seat_stops_at_the_optimum(grow: Grow) -> None:
    _, steps = grow(CLIMBING, [Says(B, A), Says(A)], EvolutionPlan(rounds=2, steps=5), [C, A])
    assert places(steps) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 0)]
    assert welfare(steps)[1:] == [22.0] * 4


def test_the_optimum_of_all_is_no_reason_to_stop_for_those_who_want_their_own(grow: Grow) -> None:
    one = Says(always("C"), always("D"))
    plan = EvolutionPlan(rounds=1, steps=2, objective="own")
    _, steps = grow(PD, [one, Says(always("C"))], plan)
    assert places(steps)[:2] == [(0, 0, 0), (0, 0, 1)]


def test_a_seat_stops_when_nothing_changes(grow: Grow) -> None:
    _, steps = grow(CLIMBING, [Says(B)], EvolutionPlan(rounds=1, steps=5))
    assert places(steps) == [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]


def test_a_program_that_fails_is_a_gap_and_its_trace_is_told_next(grow: Grow) -> None:
    one = Says(B, RAISES, C)
    chain, steps = grow(CLIMBING, [one, Says(B)], EvolutionPlan(rounds=1, steps=3))
    assert welfare(steps)[:3] == [-60.0, None, 0.0]
    assert [step.outcome for step in steps][:3] == ["ok", "error", "ok"]
    assert "ZeroDivisionError" in steps[1].note
    [fault, *_] = one.tasks[2].feedback.faults
    assert one.tasks[2].program.source == RAISES
    assert "ZeroDivisionError" in describe_faults([fault]) and "line 2" in describe_faults([fault])
    assert chain.best.welfare == 0.0


def test_a_gap_at_the_end_of_a_turn_leaves_what_ran_last(grow: Grow) -> None:
    two = Says(B)
    grow(CLIMBING, [Says(B, RAISES), two], EvolutionPlan(rounds=1, steps=2))
    assert sources(two.tasks[0]) == [B, START.source]


def test_no_program_is_a_gap_and_the_same_is_asked_again(grow: Grow) -> None:
    one = Says(None, B)
    _, steps = grow(CLIMBING, [one, Says(B)], EvolutionPlan(rounds=1, steps=2))
    assert [step.outcome for step in steps][:2] == ["no_code", "ok"]
    assert [sources(task)[0] for task in one.tasks] == [START.source] * 2


def test_three_seats_with_an_oracle_each(grow: Grow) -> None:
    setting = setting_of("public_goods", seats="3")
    least, most = setting.game.moves[0][0], setting.game.moves[0][-1]
    gives = f"def act(view):\n    return {most!r}\n"
    oracles = [Says(gives), Says(None), Says(gives)]
    chain, steps = grow(setting, oracles, EvolutionPlan(rounds=1, steps=1))
    assert places(steps) == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]
    assert [each.source for each in steps[-1].profile] == [gives, START.source, gives]
    assert welfare(steps)[1] is None and chain.best.profile == steps[-1].profile
    assert least != most


class Stops:
    """An oracle that has no more to give after its first answer."""

    def __init__(self) -> None:
        self.asked = 0

    async def respond(self, task: Task) -> Response:
        """A program, then nothing for ever."""
        self.asked += 1
        if self.asked == 1:
            return Response(Program("bot", B))
        return Response(None, "budget", note="the budget is used up", stop=True)


@pytest.mark.parametrize("order", ["turn", "simultaneous"])
def test_an_oracle_that_has_no_more_to_give_ends_the_chain(grow: Grow, order: str) -> None:
    chain, steps = grow(CLIMBING, [Stops()], EvolutionPlan(rounds=3, steps=3, order=order))
    assert places(steps) == [(0, 0, 0)]
    assert chain.stopped == "budget: the budget is used up"


def test_objectives() -> None:
    class Paid(Evaluation):
        payoffs = (1.0, 5.0)  # type: ignore[assignment]

    profile = (START, START)
    tasks = [
        Task("step", PD, profile, 0, objective, Feedback((), None))
        for objective in ("welfare", "own", "both")
    ]
    assert [task.value(Paid((), ())) for task in tasks] == [6.0, 1.0, 7.0]
    assert tasks[0].value(Evaluation((), ())) == float("-inf")
