"""Level-based foraging keeps its rules, which are the rules of the package lbforaging."""

import json
import math
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournament.games import level_based_foraging
from tournament.games.level_based_foraging import MOVES, Piece, State

from tests.games.foraging_episodes import SETTINGS, differences, package_episode, read_sample
from tests.games.native import Table
from tournament.game import StateGame
from tournament.seeds import Tape
from tournament.theory.foraging import optimal_steps, optimal_welfare

SEEDS = st.integers(0, 10_000)
PARAMETERS = st.sampled_from(SETTINGS)
UNDRAWN = Tape("undrawn")

BOTS = ("lbf_greedy", "lbf_intent", "lbf_nearest", "lbf_planner")
LARGE = {"size": 20, "foods": 9, "horizon": 20}


def build(**parameters: Any) -> StateGame:
    return level_based_foraging.game(**parameters)


def state(players: list[tuple[int, int, int]], foods: list[tuple[int, int, int]]) -> State:
    """Return a state of the default grid."""
    spawned = sum(level for _, _, level in foods)
    return State(5, tuple(Piece(*p) for p in players), tuple(Piece(*f) for f in foods), spawned)


def after(now: State, *moves: str, **parameters: Any) -> tuple[State, tuple[float, ...]]:
    """Return the state after a round with these moves, and the payoffs of the round."""
    game = build(players=len(now.players), **{"step_cost": 0.0} | parameters)
    return game.step(now, tuple(map(MOVES.index, moves)), UNDRAWN)


def cells(now: State) -> list[tuple[int, int]]:
    return [(player.row, player.column) for player in now.players]


def random_play(game: StateGame, seed: int) -> list[tuple[State, Any]]:
    """Return the states of an episode with random moves, each with the payoffs of the round before it."""
    tape = Tape(f"play/{seed}")
    joints = (tuple(tape.randrange(len(legal)) for legal in game.moves) for _ in iter(int, 1))
    course = []
    for step in game.episode(Tape(f"chance/{seed}"), joints):
        course.append(step)
        if game.over(step[0]):
            return course
    raise AssertionError


# The package


@pytest.mark.parametrize("episode", read_sample()["episodes"])
def test_a_recorded_episode_of_the_package_is_reproduced(episode: dict[str, Any]) -> None:
    assert list(differences(episode)) == []


def test_a_thousand_episodes_of_the_package_are_reproduced() -> None:
    pytest.importorskip("lbforaging", reason="lbforaging comes with the extra 'bench'")
    differing = {seed: list(differences(package_episode(seed))) for seed in range(1000)}
    assert {seed: found for seed, found in differing.items() if found} == {}


def test_the_sample_has_every_setting_and_names_its_source() -> None:
    sample = read_sample()
    assert sample["source"].startswith("lbforaging 2.0.0")
    assert all(any(e["parameters"] == s for e in sample["episodes"]) for s in SETTINGS)
    lifted = [e for e in sample["episodes"] if any(p > 0 for paid in e["paid"] for p in paid)]
    assert len(lifted) > len(sample["episodes"]) / 2


# Starts


@given(SEEDS, PARAMETERS)
def test_players_and_food_start_where_they_may(seed: int, parameters: dict[str, Any]) -> None:
    game = build(**parameters)
    known: Any = game.parameters
    now = game.start(Tape(f"{seed}"))
    assert now.step == 0
    assert len({*cells(now)}) == len(now.players) == known["players"]
    assert all(0 <= min(cell) <= max(cell) < known["size"] for cell in cells(now))
    assert all(1 <= player.level <= known["max_player_level"] for player in now.players)
    assert 1 <= len(now.foods) <= known["foods"]
    assert all(1 <= min(f[:2]) <= max(f[:2]) <= known["size"] - 2 for f in now.foods)
    assert all(math.dist(f[:2], g[:2]) > 2 for f, g in combinations(now.foods, 2))
    assert not {f[:2] for f in now.foods} & {*cells(now)}
    assert now.foods == tuple(sorted(now.foods))
    strength = sum(sorted(player.level for player in now.players)[:3])
    least = strength if known["cooperative"] else 1
    assert all(least <= food.level <= strength for food in now.foods)
    assert now.spawned == sum(food.level for food in now.foods)


def test_on_the_smallest_grid_one_start_in_nine_has_one_food() -> None:
    game, tape = build(), Tape("starts")
    starts = [len(game.start(tape).foods) for _ in range(5000)]
    assert set(starts) == {1, 2}
    assert starts.count(1) / len(starts) == pytest.approx(0.113, abs=0.015)


def test_levels_and_cells_of_players_are_equally_likely() -> None:
    game, tape = build(), Tape("starts")
    players = [player for _ in range(5000) for player in game.start(tape).players]
    assert sum(player.level == 2 for player in players) == pytest.approx(5000, abs=200)
    assert sum(player.row == 0 for player in players) == pytest.approx(2000, abs=200)
    assert sum(player.column == 4 for player in players) == pytest.approx(2000, abs=200)


# Moves


@pytest.mark.parametrize(
    ("move", "end"),
    [("none", (2, 3)), ("north", (1, 3)), ("south", (3, 3)), ("west", (2, 2)), ("east", (2, 4))],
)
def test_each_move_leads_to_the_expected_cell(move: str, end: tuple[int, int]) -> None:
    assert cells(after(state([(2, 3, 1), (0, 0, 1)], [(3, 1, 2)]), move, "none")[0])[0] == end


@pytest.mark.parametrize(
    ("players", "moves", "expected"),
    [
        ([(0, 0, 1), (4, 4, 1)], ("north", "south"), [(0, 0), (4, 4)]),
        ([(0, 0, 1), (4, 4, 1)], ("west", "east"), [(0, 0), (4, 4)]),
        ([(1, 2, 1), (2, 1, 1)], ("south", "east"), [(1, 2), (2, 1)]),
        ([(0, 1, 1), (0, 3, 1)], ("east", "west"), [(0, 1), (0, 3)]),
        ([(0, 1, 1), (0, 2, 1)], ("east", "none"), [(0, 1), (0, 2)]),
        ([(0, 1, 1), (0, 2, 1)], ("east", "load"), [(0, 1), (0, 2)]),
        ([(0, 1, 1), (0, 2, 1)], ("east", "west"), [(0, 2), (0, 1)]),
        ([(0, 1, 1), (0, 2, 1)], ("east", "east"), [(0, 2), (0, 3)]),
        ([(0, 0, 1), (0, 1, 1), (0, 3, 1)], ("east", "east", "west"), [(0, 1), (0, 1), (0, 3)]),
    ],
    ids=[
        "north and south edge",
        "west and east edge",
        "food",
        "both to one cell",
        "onto who stays",
        "onto who loads",
        "change of places",
        "one behind the other",
        "behind one who is turned away, as in the package",
    ],
)
def test_players_that_would_collide_or_leave_the_grid_stay(
    players: list[tuple[int, int, int]], moves: tuple[str, ...], expected: list[tuple[int, int]]
) -> None:
    assert cells(after(state(players, [(2, 2, 2)]), *moves)[0]) == expected


def test_food_still_blocks_its_cell_in_the_round_in_which_it_is_lifted() -> None:
    now = state([(1, 2, 1), (2, 1, 1), (3, 2, 1)], [(2, 2, 2)])
    then, _ = after(now, "load", "load", "north")
    assert then.foods == ()
    assert cells(then)[2] == (3, 2)


# Food


@pytest.mark.parametrize(
    ("moves", "left", "paid"),
    [
        (("load", "load"), 1, (2 / 3 * 3 / 6, 1 / 3 * 3 / 6)),
        (("load", "none"), 2, (-0.5, 0)),
        (("none", "load"), 2, (0, -0.5)),
        (("none", "none"), 2, (0, 0)),
        (("load", "west"), 2, (-0.5, 0)),
    ],
)
def test_food_is_lifted_by_those_who_load_together_and_are_strong_enough(
    moves: tuple[str, str], left: int, paid: tuple[float, float]
) -> None:
    now = state([(0, 1, 2), (1, 0, 1)], [(1, 1, 3), (3, 2, 3)])
    then, got = after(now, *moves, load_penalty=0.5)
    assert len(then.foods) == left
    assert got == pytest.approx(paid)


def test_two_foods_can_be_lifted_at_once() -> None:
    now = state([(0, 1, 2), (4, 3, 1)], [(1, 1, 2), (3, 3, 1)])
    then, paid = after(now, "load", "load", cooperative=False)
    assert then.foods == ()
    assert paid == pytest.approx((2 / 3, 1 / 3))


def test_a_load_far_from_food_has_no_effect() -> None:
    now = state([(0, 0, 1), (4, 4, 1)], [(1, 1, 2)])
    then, paid = after(now, "load", "load", load_penalty=1.0)
    assert (then.players, then.foods, paid) == (now.players, now.foods, (0, 0))


@given(SEEDS, PARAMETERS)
def test_food_is_only_removed_and_pays_its_share(seed: int, parameters: dict[str, Any]) -> None:
    game = build(**parameters | {"step_cost": 0.0, "load_penalty": 0.0})
    course = random_play(game, seed)
    for (before, _), (now, paid) in pairwise(course):
        assert {*now.foods} <= {*before.foods}
        assert [p.level for p in now.players] == [p.level for p in before.players]
        gone = sum(f.level for f in before.foods) - sum(f.level for f in now.foods)
        assert sum(paid) == pytest.approx(gone / now.spawned)
        assert now.step == before.step + 1


@pytest.mark.parametrize("foods", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_all_food_pays_one_in_total_and_every_round_costs_every_seat(seed: int, foods: int) -> None:
    table = Table(build(foods=foods), ["lbf_planner"] * 2, Tape(f"{seed}")).play()
    assert table.states[-1].foods == ()
    assert sum(table.totals) == pytest.approx(1 - 0.2 * len(table.paid))


@pytest.mark.parametrize("horizon", [1, 7])
def test_an_episode_ends_at_the_horizon(horizon: int) -> None:
    game = build(horizon=horizon)
    now = game.start(Tape("start"))
    for _ in range(horizon):
        assert not game.over(now)
        now, paid = game.step(now, (0, 0), UNDRAWN)
        assert paid == (-0.1, -0.1)
    assert game.over(now)
    assert game.most_rounds == horizon


def test_the_worst_payoff_of_a_round_is_that_of_a_useless_load() -> None:
    now = state([(0, 1, 1), (4, 4, 1)], [(1, 1, 2)])
    paid = after(now, "load", "none", load_penalty=0.5, step_cost=0.25)[1]
    assert paid == (-0.75, -0.25)
    assert build(load_penalty=0.5, step_cost=0.25).worst == (-0.75, -0.75)


# Observations


def test_a_seat_observes_itself_first_and_the_whole_grid() -> None:
    now = state([(0, 1, 2), (4, 4, 1), (3, 0, 1)], [(1, 1, 2), (3, 3, 1)])
    observed = build(players=3).observe(now._replace(step=4), 1)
    assert json.loads(json.dumps(observed)) == {
        "size": 5,
        "step": 4,
        "me": [4, 4, 1],
        "others": [[3, 0, 1], [0, 1, 2]],
        "foods": [[1, 1, 2], [3, 3, 1]],
    }


def test_nothing_beyond_the_sight_is_observed() -> None:
    now = state([(2, 2, 1), (3, 3, 1), (4, 2, 2)], [(1, 1, 2), (3, 3, 2)])._replace(size=6)
    observed = build(players=3, sight=1, size=6).observe(now, 0)
    assert observed["others"] == [[3, 3, 1], None]
    assert observed["foods"] == [[1, 1, 2], [3, 3, 2]]
    assert build(players=3, sight=1, size=6).observe(now, 2)["foods"] == [[3, 3, 2]]


# Bots


def test_two_planners_are_optimal_in_every_episode() -> None:
    game = build()
    for seed in range(60):
        table = Table(game, ["lbf_planner"] * 2, Tape(f"{seed}")).play()
        assert len(table.paid) == optimal_steps(table.states[0])
        assert sum(table.totals) == pytest.approx(optimal_welfare(table.states[0]))


@pytest.mark.parametrize(
    ("bots", "welfare"),
    [
        (("lbf_planner", "lbf_planner"), (-0.2, 0.1)),
        (("lbf_nearest", "lbf_nearest"), (-0.6, -0.2)),
        (("lbf_intent", "lbf_intent"), (-1.6, -0.6)),
        (("lbf_greedy", "lbf_greedy"), (-10, -7)),
        (("lbf_intent", "lbf_nearest"), (-1.2, -0.3)),
        (("lbf_intent", "lbf_greedy"), (-4, -1)),
    ],
)
def test_bots_that_take_the_other_into_account_gather_more(
    bots: tuple[str, str], welfare: tuple[float, float]
) -> None:
    played = [Table(build(), bots, Tape(f"{seed}")).play() for seed in range(100)]
    mean = sum(sum(table.totals) for table in played) / len(played)
    assert welfare[0] < mean < welfare[1]


@pytest.mark.parametrize("bot", BOTS)
@pytest.mark.parametrize("parameters", [*SETTINGS, LARGE], ids=str)
def test_bots_play_legal_moves_in_every_setting(bot: str, parameters: dict[str, Any]) -> None:
    game = build(**parameters)
    bots = [bot] * game.seats
    if bot == "lbf_planner" and game.seats > 2:
        # This bot plays in games with two seats only.
        return
    for seed in range(5):
        assert len(Table(game, bots, Tape(f"{seed}")).play().paid) <= game.most_rounds


@pytest.mark.parametrize(
    ("players", "expected"),
    [
        ([(1, 1, 1), (2, 0, 1)], ["south", "none"]),
        ([(2, 0, 1), (1, 1, 1)], ["east", "east"]),
    ],
)
def test_nearest_gives_way_to_a_seat_with_a_lower_number(
    players: list[tuple[int, int, int]], expected: list[str]
) -> None:
    table = Table(build(), ["lbf_nearest"] * 2, Tape("any"))
    table.states = [state(players, [(2, 2, 2)])]
    assert table.moves() == expected


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ([(4, 0), (3, 0), (2, 0)], {"north", "west"}),
        ([(4, 0), (4, 1), (4, 2)], {"south", "east"}),
    ],
)
def test_intent_goes_to_the_food_that_the_other_has_been_walking_to(
    way: list[tuple[int, int]], expected: set[str]
) -> None:
    """Both players start at equal distances from two foods."""
    table = Table(build(), ["lbf_intent"] * 2, Tape("any"))
    for step, cell in enumerate(way):
        now = state([(2, 2, 1), (*cell, 1)], [(1, 1, 2), (3, 3, 2)])
        table.states = [now._replace(step=step)]
        move = table.moves()[0]
    assert move in expected
