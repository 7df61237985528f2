"""Every file in `games/` keeps the rules for games, and pays what the literature says."""

import ast
import importlib
import inspect
import itertools
import json
import math
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament import library
from tournament.errors import ParameterError
from tournament.game import MatrixGame, Payoffs, Setting, State, StateGame
from tournament.seeds import Tape

NAMES = library.games()
MAY_IMPORT = {
    "tournament.errors",
    "tournament.game",
    "tournament.seeds",
    "collections",
    "itertools",
    "math",
    "typing",
}


def module(name: str) -> ModuleType:
    return importlib.import_module(f"tournament.games.{name}")


def build(name: str, **parameters: Any) -> Any:
    return module(name).game(**parameters)


def numbers(name: str) -> list[str]:
    """Return the numeric parameters of a game."""
    defaults = library.parameters_of(name).items()
    return [p for p, default in defaults if not isinstance(default, str | bool)]


IN_ONE_MOVE = [name for name in NAMES if isinstance(build(name), MatrixGame)]
ON_A_STATE = [name for name in NAMES if isinstance(build(name), StateGame)]


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    named: str = request.param
    return named


def test_a_game_is_named_after_its_file(name: str) -> None:
    assert build(name).name == name


def test_the_docstring_of_a_game_begins_with_its_name_and_one_line(name: str) -> None:
    summary = library.describe_game(name)
    assert len(summary) <= 100
    assert summary.endswith(".")
    first_word = name.partition("_")[0][:5]
    assert summary.lower().startswith(first_word)


def test_a_game_file_imports_only_the_modules_for_games(name: str) -> None:
    """A game has no clock, no files and no randomness of its own."""
    imported = set()
    for node in ast.walk(ast.parse(inspect.getsource(module(name)))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert imported <= MAY_IMPORT


def test_a_game_has_typed_keyword_parameters_with_defaults_and_records_all_of_them(
    name: str,
) -> None:
    signature = inspect.signature(module(name).game, eval_str=True)
    for parameter in signature.parameters.values():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.annotation in (int, float, bool, str)
        assert parameter.default is not parameter.empty
    assert signature.return_annotation is type(build(name))
    assert build(name).parameters == library.parameters_of(name)


def test_every_seat_has_different_moves_that_are_words_or_numbers(name: str) -> None:
    for legal in build(name).moves:
        assert len(legal) == len(set(legal)) >= 2
        assert all(type(move) in (str, int) for move in legal)


@pytest.mark.parametrize("name", IN_ONE_MOVE)
def test_every_cell_pays_every_seat_a_finite_float(name: str) -> None:
    game = build(name)
    assert game.cells is not None
    for payoffs in game.cells.values():
        assert len(payoffs) == game.seats
        assert all(type(value) is float and math.isfinite(value) for value in payoffs)


@pytest.mark.parametrize("name", IN_ONE_MOVE)
def test_the_worst_payoff_of_a_seat_is_the_least_of_all_cells(name: str) -> None:
    game = build(name)
    assert game.cells is not None
    assert game.worst == tuple(map(min, zip(*game.cells.values(), strict=True)))


def test_a_game_built_twice_pays_the_same_and_has_the_same_key(name: str) -> None:
    one, two = build(name), build(name)
    assert one.cells == two.cells
    assert Setting(one).key == Setting(two).key


def episode(game: StateGame, seed: int) -> list[tuple[State, Payoffs | None]]:
    """Return the states of an episode with random moves, each with the payoffs of the round before it."""
    tape, chance = Tape(f"play/{seed}"), Tape(f"chance/{seed}")
    course: list[tuple[State, Payoffs | None]] = [(game.start(chance), None)]
    while not game.over(course[-1][0]):
        joint = tuple(tape.randrange(len(legal)) for legal in game.moves)
        course.append(game.step(course[-1][0], joint, chance))
    return course


@pytest.mark.parametrize("name", ON_A_STATE)
class TestEveryGameOnAState:
    def test_an_episode_has_at_least_one_round_and_at_most_most_rounds(self, name: str) -> None:
        for seed in range(50):
            assert 1 <= len(episode(build(name), seed)) - 1 <= build(name).most_rounds

    def test_every_round_pays_every_seat_a_finite_float_of_at_least_its_worst(
        self, name: str
    ) -> None:
        game = build(name)
        for paid in (paid for seed in range(50) for _, paid in episode(game, seed)[1:]):
            assert [type(value) for value in paid or ()] == [float] * game.seats
            assert all(map(math.isfinite, paid))
            assert all(v >= worst for v, worst in zip(paid, game.worst, strict=True))

    def test_equal_tapes_give_equal_episodes_and_different_ones_different_episodes(
        self, name: str
    ) -> None:
        courses = [episode(build(name), seed) for seed in (1, 1, 2)]
        assert courses[0] == courses[1] != courses[2]

    def test_a_state_is_never_changed(self, name: str) -> None:
        """A second step from the same state, with the same tape, gives the same result."""
        game, chance = build(name), Tape("chance")
        for state, _ in episode(game, 0)[:-1]:
            joint, before = (1,) * game.seats, (hash(state), repr(state))
            again = chance.copy()
            assert game.step(state, joint, chance) == game.step(state, joint, again)
            assert (hash(state), repr(state)) == before

    def test_observations_are_json_data_and_the_same_each_time(self, name: str) -> None:
        game = build(name)
        for state, _ in episode(game, 0):
            for seat in range(game.seats):
                observed = game.observe(state, seat)
                assert observed == json.loads(json.dumps(observed, allow_nan=False))
                assert observed == game.observe(state, seat)


def test_defaults_given_as_text_make_the_same_game(name: str) -> None:
    texts = {p: str(default) for p, default in library.parameters_of(name).items()}
    assert Setting(library.load_game(name, texts)).key == Setting(build(name)).key


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, "3", None, True, 10**400], ids=str
)
def test_a_value_that_is_not_a_finite_number_is_refused_with_the_parameter(
    name: str, value: object
) -> None:
    for parameter in numbers(name):
        with pytest.raises(ParameterError) as caught:
            build(name, **{parameter: value})
        assert str(caught.value).startswith(f"{name}: {parameter} is ")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["nan", "inf", "-1e999", "three", "", "0x3"])
def test_text_that_is_not_a_finite_number_is_refused_with_the_parameter(
    name: str, text: str
) -> None:
    for parameter in numbers(name):
        with pytest.raises(ParameterError, match=f"^{name}: {parameter} is "):
            library.load_game(name, {parameter: text})


KINDS = {
    "battle_of_the_sexes": "general-sum",
    "chicken": "general-sum",
    "climbing": "common-payoff",
    "coin_game": "general-sum",
    "coordination": "common-payoff",
    "level_based_foraging": "general-sum",
    "matching_pennies": "zero-sum",
    "penalty": "common-payoff",
    "prisoners_dilemma": "general-sum",
    "public_goods": "general-sum",
    "rock_paper_scissors": "zero-sum",
    "stag_hunt": "general-sum",
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_game_has_the_expected_kind(name: str, kind: str) -> None:
    assert build(name).kind == kind


FIRST_SEAT = {
    "battle_of_the_sexes": [[2, 0], [0, 1]],
    "chicken": [[6, 2], [7, 0]],
    "climbing": [[11, -30, 0], [-30, 7, 6], [0, 0, 5]],
    "coordination": [[3, 0, 0], [0, 2, 0], [0, 0, 1]],
    "matching_pennies": [[1, -1], [-1, 1]],
    "penalty": [[10, 0, -2], [0, 2, 0], [-2, 0, 10]],
    "prisoners_dilemma": [[3, 0], [5, 1]],
    "rock_paper_scissors": [[0, -1, 1], [1, 0, -1], [-1, 1, 0]],
    "stag_hunt": [[4, 0], [3, 3]],
}
SYMMETRIC = {"chicken", "prisoners_dilemma", "rock_paper_scissors", "stag_hunt"}


@pytest.mark.parametrize(("name", "matrix"), FIRST_SEAT.items())
def test_the_first_seat_is_paid_by_the_published_matrix(
    name: str, matrix: list[list[float]]
) -> None:
    game = build(name)
    span = range(len(matrix))
    assert [[game.payoff((i, j))[0] for j in span] for i in span] == matrix


@pytest.mark.parametrize("name", sorted(SYMMETRIC))
def test_a_symmetric_game_pays_the_second_seat_as_the_first(name: str) -> None:
    game = build(name)
    for i, j in itertools.product(range(len(game.moves[0])), repeat=2):
        assert game.payoff((i, j)) == game.payoff((j, i))[::-1]


def test_each_seat_of_the_battle_of_the_sexes_prefers_a_different_meeting() -> None:
    game = build("battle_of_the_sexes")
    assert game.moves == (("opera", "football"),) * 2
    assert [game.payoff((i, i)) for i in (0, 1)] == [(2, 1), (1, 2)]


@pytest.mark.parametrize(
    ("name", "welfare"), [("coordination", 6.0), ("climbing", 22.0), ("penalty", 20.0)]
)
def test_the_greatest_total_welfare_is_the_one_published_for_pibr(
    name: str, welfare: float
) -> None:
    game = build(name)
    assert game.moves == (("a", "b", "c"),) * 2
    assert game.cells is not None
    assert max(sum(payoffs) for payoffs in game.cells.values()) == welfare


@pytest.mark.parametrize(
    ("name", "parameters", "problem"),
    [
        (
            "prisoners_dilemma",
            {"reward": 5},
            "temptation is 5, but must be greater than reward (5)",
        ),
        (
            "prisoners_dilemma",
            {"sucker": 2},
            "punishment is 1, but must be greater than sucker (2)",
        ),
        ("chicken", {"punishment": 3}, "sucker is 2, but must be greater than punishment (3)"),
        ("stag_hunt", {"temptation": 4}, "reward is 4, but must be greater than temptation (4)"),
        ("stag_hunt", {"sucker": 3}, "punishment is 3, but must be greater than sucker (3)"),
        (
            "stag_hunt",
            {"temptation": 2},
            "punishment is 3, and must not be greater than temptation (2)",
        ),
        ("battle_of_the_sexes", {"second": 2}, "best is 2, but must be greater than second (2)"),
        ("battle_of_the_sexes", {"miss": 1}, "second is 1, but must be greater than miss (1)"),
        ("matching_pennies", {"stake": 0}, "stake is 0, but must be greater than zero (0)"),
        ("rock_paper_scissors", {"stake": -1}, "stake is -1, but must be greater than zero (0)"),
        ("coordination", {"third": 0}, "third is 0, but must be greater than zero (0)"),
        ("penalty", {"p": 0.5}, "p is 0.5, and must not be greater than 0"),
        ("public_goods", {"seats": 1}, "seats is 1, but must be a whole number from 2 to 1,000"),
        (
            "public_goods",
            {"seats": 3.0},
            "seats is 3.0, but must be a whole number from 2 to 1,000",
        ),
        (
            "public_goods",
            {"endowment": 78},
            "endowment is 78, but must be a whole number from 1 to 77",
        ),
        ("public_goods", {"multiplier": 3}, "seats is 3, but must be greater than multiplier (3)"),
        ("public_goods", {"multiplier": 1}, "multiplier is 1, but must be greater than one (1)"),
        (
            "level_based_foraging",
            {"step_cost": -0.1},
            "step_cost is -0.1, and must not be less than 0",
        ),
        (
            "level_based_foraging",
            {"sight": 6},
            "sight is 6, but must be a whole number from 0 to 5",
        ),
        ("coin_game", {"size": 2}, "size is 2, but must be a whole number from 3 to 20"),
    ],
)
def test_payoffs_that_make_another_game_are_refused(
    name: str, parameters: dict[str, float], problem: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        build(name, **parameters)
    assert str(caught.value) == f"{name}: {problem}"


def test_the_limits_of_the_published_inequalities_are_allowed() -> None:
    build("penalty", p=0)
    build("stag_hunt", temptation=3, punishment=2)
    build("public_goods", seats=2, endowment=77, multiplier=1.99)
    build("level_based_foraging", players=8, foods=9, sight=5, step_cost=0, horizon=1)


@given(st.integers(2, 30), st.data())
def test_a_contribution_raises_the_welfare_and_lowers_the_payoff_of_the_giver(
    seats: int, data: st.DataObject
) -> None:
    multiplier = data.draw(st.floats(1.01, seats - 0.01))
    game = build("public_goods", seats=seats, multiplier=multiplier)
    joint = data.draw(st.tuples(*[st.integers(0, 9)] * seats))
    more = (joint[0] + 1, *joint[1:])
    before, after = game.payoff(joint), game.payoff(more)
    assert after[0] < before[0]
    assert all(b < a for b, a in zip(before[1:], after[1:], strict=True))
    assert math.fsum(after) > math.fsum(before)
    assert game.worst[0] <= min(before) + 1e-9


def test_public_goods_pays_free_riders_and_givers_as_its_docstring_says() -> None:
    game = build("public_goods")
    assert game.payoff((0, 0, 0)) == (10, 10, 10)
    assert game.payoff((10, 10, 10)) == pytest.approx((16, 16, 16))
    assert game.payoff((10, 0, 0)) == pytest.approx((16 / 3, 46 / 3, 46 / 3))
    assert game.moves[0] == tuple(range(11))


def equilibria(game: MatrixGame) -> set[tuple[object, ...]]:
    """Return the joint moves from which no seat gains by changing its own move alone."""
    assert game.cells is not None

    def stable(joint: tuple[int, ...]) -> bool:
        return all(
            game.payoff((*joint[:seat], other, *joint[seat + 1 :]))[seat]
            <= game.payoff(joint)[seat]
            for seat in range(game.seats)
            for other in range(len(game.moves[seat]))
        )

    return {
        tuple(game.moves[seat][move] for seat, move in enumerate(joint))
        for joint in game.cells
        if stable(joint)
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("battle_of_the_sexes", {("opera", "opera"), ("football", "football")}),
        ("chicken", {("dare", "swerve"), ("swerve", "dare")}),
        ("climbing", {("a", "a"), ("b", "b")}),
        ("coordination", {("a", "a"), ("b", "b"), ("c", "c")}),
        ("matching_pennies", set()),
        ("penalty", {("a", "a"), ("b", "b"), ("c", "c")}),
        ("prisoners_dilemma", {("D", "D")}),
        ("public_goods", {(0, 0, 0)}),
        ("rock_paper_scissors", set()),
        ("stag_hunt", {("stag", "stag"), ("hare", "hare")}),
    ],
)
def test_the_pure_equilibria_are_those_that_the_docstring_names(
    name: str, expected: set[tuple[object, ...]]
) -> None:
    assert equilibria(build(name)) == expected
