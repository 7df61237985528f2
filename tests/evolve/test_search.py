"""What the search oracle reaches, which needs no model, and from which start."""

from typing import Any

import pytest

from tests.evolve.conftest import Evaluate, always, program, setting_of
from tournament.engine.batch import match_tape
from tournament.evolve.evaluate import Evaluator, Feedback, Profile
from tournament.evolve.grid import walkers
from tournament.evolve.optimum import mean_optimum, published_optimum
from tournament.evolve.pibr import Chain, EvolutionPlan, Step
from tournament.evolve.response import START, Response, Task
from tournament.evolve.search import Search
from tournament.game import Setting
from tournament.library import load_bot
from tournament.program import Program
from tournament.seeds import Tape
from tournament.theory.foraging import optimal_welfare

LBF = setting_of("level_based_foraging")
CLIMBING = setting_of("climbing")


def searched(
    evaluate: Evaluate,
    setting: Setting,
    plan: EvolutionPlan,
    start: tuple[str, ...] = (),
    library: tuple[Program, ...] = (),
) -> tuple[Chain, list[Step]]:
    async def work(evaluator: Evaluator) -> tuple[Chain, list[Step]]:
        oracle = Search(library, evaluator, plan.episodes)
        oracles = (oracle,) * setting.game.seats
        profile = tuple(map(program, start)) or None
        chain = Chain("chain", plan, oracles, evaluator, profile)
        return chain, [step async for step in chain.run()]

    return evaluate(setting, work)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("game", "best"), [("coordination", 6.0), ("climbing", 22.0), ("penalty", 20.0)]
)
def test_search_reaches_the_optimum_of_the_matrix_games_of_the_paper(
    evaluate: Evaluate, game: str, best: float
) -> None:
    _, steps = searched(evaluate, setting_of(game), EvolutionPlan())
    assert len(steps) == 10
    assert [step.evaluation and step.evaluation.welfare for step in steps] == [best] * 10


@pytest.mark.parametrize("start", ["b", "c"])
def test_search_for_welfare_leaves_an_equilibrium_that_no_single_seat_can_improve(
    evaluate: Evaluate, start: str
) -> None:
    chain, steps = searched(evaluate, CLIMBING, EvolutionPlan(1, 3), (always(start),) * 2)
    outcomes = [step.outcome for step in steps]
    assert "restart" in outcomes
    restart = steps[outcomes.index("restart")]
    assert restart.profile[0] == restart.profile[1]
    assert steps[-1].evaluation and steps[-1].evaluation.welfare == 22.0
    assert chain.best.welfare == 22.0


def test_search_for_the_own_payoff_never_restarts(evaluate: Evaluate) -> None:
    plan = EvolutionPlan(2, 2, objective="own")
    _, steps = searched(evaluate, CLIMBING, plan, (always("b"),) * 2)
    assert {step.outcome for step in steps} == {"ok"}


@pytest.mark.parametrize(("objective", "move"), [("own", "D"), ("welfare", "C"), ("both", "D")])
def test_the_objective_decides_the_answer_to_a_cooperator(
    evaluate: Evaluate, objective: str, move: str
) -> None:
    """Against a cooperator, defection pays 5 to the seat and 5 in all; cooperation pays 3 to the seat and 6 in all."""
    plan = EvolutionPlan(1, 1, objective=objective)
    start = (always("C"), always("C"))
    _, steps = searched(evaluate, setting_of("prisoners_dilemma"), plan, start)
    [outcome, *_] = steps[0].evaluation.outcomes if steps[0].evaluation else ()
    assert outcome.moves[0] == str("CD".index(move))


def test_search_finds_the_automaton_that_exploits(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best response to a bot that punishes only two defections in a row is to defect every other round."""
    monkeypatch.setattr("tournament.evolve.search.CLIMBS", 1)
    forgiving = load_bot("tit_for_two_tats")
    setting = setting_of("prisoners_dilemma", rounds=8)
    plan = EvolutionPlan(1, 1, objective="own")
    _, steps = searched(evaluate, setting, plan, (always("C"), forgiving.source))
    assert steps[0].evaluation and steps[0].evaluation.payoffs
    assert steps[0].evaluation.payoffs[0] >= 4 * 5 + 4 * 3


def test_search_works_for_seats_with_different_moves(evaluate: Evaluate) -> None:
    chain, _ = searched(evaluate, setting_of("battle_of_the_sexes"), EvolutionPlan(1, 1))
    assert chain.best.welfare > 0


def test_search_works_for_three_seats(evaluate: Evaluate) -> None:
    chain, steps = searched(evaluate, setting_of("public_goods", seats="3"), EvolutionPlan(1, 1))
    assert chain.best.welfare == mean_optimum(chain.setting)
    assert {step.seat for step in steps} == {0, 1, 2}


def test_walkers_are_only_tried_in_games_on_grids() -> None:
    assert not list(walkers(CLIMBING, 0))
    coins = list(walkers(setting_of("coin_game"), 1))
    assert coins and any("('my_coin',)" in each.source for each in coins)
    foragers = list(walkers(LBF, 0))
    assert any("('foods',), ('others',)" in each.source for each in foragers)
    assert len({each.digest for each in foragers}) == len(foragers)


def test_search_makes_a_pair_of_foragers_that_cooperate(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search starts from programs that do nothing, without the library. Its episodes are short to save time."""
    monkeypatch.setattr("tournament.evolve.grid.MOST_TARGETS", 1)
    short = setting_of("level_based_foraging", horizon="12")

    async def work(evaluator: Evaluator) -> tuple[Response, Any]:
        profile: Profile = (START, START)
        task = Task("chain/0/0/0", short, profile, 0, "welfare", Feedback((), None))
        response = await Search((), evaluator, 10).respond(task)
        assert response.profile
        [found] = await Evaluator(evaluator.pool, LBF, 1).rollouts([response.profile], 200)
        return response, found

    response, found = evaluate(short, work)
    assert response.outcome == "restart"
    assert found.welfare >= -0.30


def test_a_pair_of_planners_is_optimal_in_every_episode(evaluate: Evaluate) -> None:
    planner = load_bot("lbf_planner")

    async def work(evaluator: Evaluator) -> Any:
        [found] = await evaluator.rollouts([(planner, planner)], 20)
        return found

    found = evaluate(LBF, work)
    for outcome, welfare in zip(found.outcomes, found.samples, strict=True):
        start = LBF.game.start(Tape(match_tape(0, LBF.key, outcome.fixture, "chance")))
        assert welfare == pytest.approx(optimal_welfare(start))


def test_the_mean_optimum_is_none_for_games_in_which_it_cannot_be_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tournament.evolve.optimum.STARTS", 60)
    assert mean_optimum(CLIMBING) == 22.0
    assert mean_optimum(setting_of("level_based_foraging", horizon="40")) == pytest.approx(
        -0.082, abs=0.1
    )
    assert mean_optimum(setting_of("level_based_foraging", size="12")) is None
    assert mean_optimum(setting_of("coin_game")) is None


def test_the_computed_and_the_published_optimum_of_foraging_are_reported_apart() -> None:
    assert mean_optimum(LBF) == pytest.approx(-0.0818, abs=5e-5)
    assert published_optimum(LBF) == 0.554
    assert published_optimum(setting_of("level_based_foraging", foods="1")) is None
    assert published_optimum(CLIMBING) is None


def test_a_search_gives_the_same_programs_again(
    evaluate: Evaluate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.evolve.search.CLIMBS", 1)
    setting = setting_of("prisoners_dilemma", rounds=2)
    runs = [searched(evaluate, setting, EvolutionPlan(1, 1, 3)) for _ in range(2)]
    first, second = ([step.profile for step in steps] for _, steps in runs)
    assert first == second
