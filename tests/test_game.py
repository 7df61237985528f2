"""Payoffs, parameters and repetitions have the values that were given, or are refused in one line."""

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.errors import ParameterError
from tournament.game import (
    FIRST_CODE,
    LARGEST,
    MOST_MOVES,
    MOST_ROUNDS,
    MatrixGame,
    Repetition,
    Setting,
    check_finite,
    check_order,
    check_whole,
    code,
    common_payoff_game,
    index,
    plain,
    symmetric_game,
    table_game,
)
from tournament.seeds import Tape

PAYOFFS = st.floats(-1e6, 1e6)
MATRICES = st.lists(st.lists(PAYOFFS, min_size=3, max_size=3), min_size=3, max_size=3)
MOVES = ("x", "y", "z")
CELLS = list(itertools.product(range(3), repeat=2))

NOT_NUMBERS: list[Any] = ["3", None, True, [1], 1j]
NOT_FINITE: list[Any] = [math.nan, math.inf, -math.inf, 2 * LARGEST, 10**400]


def dilemma(**changed: float) -> MatrixGame:
    values = {"R": 3.0, "S": 0.0, "T": 5.0, "P": 1.0} | changed
    matrix = [[values["R"], values["S"]], [values["T"], values["P"]]]
    return symmetric_game("dilemma", ("C", "D"), matrix, values)


def test_codes_of_moves_are_distinct_printable_characters() -> None:
    codes = [code(move) for move in range(MOST_MOVES)]
    assert [index(character) for character in codes] == list(range(MOST_MOVES))
    assert all(ord(character) == FIRST_CODE + move for move, character in enumerate(codes))
    assert all(character.isascii() and character.isprintable() for character in codes)


def test_a_seat_with_more_moves_than_there_are_codes_is_refused() -> None:
    def crowded(moves: int) -> MatrixGame:
        return MatrixGame("crowded", (tuple(range(moves)),), lambda joint: (0.0,), (0.0,))

    assert crowded(MOST_MOVES).seats == 1
    with pytest.raises(ParameterError, match=r"^crowded: moves are more than 78 for a seat$"):
        crowded(MOST_MOVES + 1)


@given(MATRICES, MATRICES)
def test_a_table_game_pays_what_its_table_says(
    mine: list[list[float]], theirs: list[list[float]]
) -> None:
    rows = [[(mine[i][j], theirs[i][j]) for j in range(3)] for i in range(3)]
    game = table_game("table", MOVES, rows, {})
    assert game.cells == {(i, j): rows[i][j] for i, j in CELLS}
    assert game.worst == (min(map(min, mine)), min(map(min, theirs)))
    assert game.seats == 2


@given(MATRICES)
def test_a_symmetric_game_looks_the_same_from_both_seats(matrix: list[list[float]]) -> None:
    game = symmetric_game("symmetric", MOVES, matrix, {})
    for i, j in CELLS:
        assert game.payoff((i, j)) == (matrix[i][j], matrix[j][i])
        assert game.payoff((i, j)) == game.payoff((j, i))[::-1]


@given(MATRICES)
def test_a_common_payoff_game_pays_both_seats_the_same(matrix: list[list[float]]) -> None:
    game = common_payoff_game("common", MOVES, matrix, {})
    assert all(game.payoff((i, j)) == (matrix[i][j],) * 2 for i, j in CELLS)
    assert game.kind == "common-payoff"


@given(MATRICES)
def test_a_game_is_zero_sum_where_one_seat_is_paid_what_the_other_loses(
    matrix: list[list[float]],
) -> None:
    rows = [[(value, -value) for value in row] for row in matrix]
    nothing_at_stake = not any(map(any, matrix))
    expected = "common-payoff" if nothing_at_stake else "zero-sum"
    assert table_game("zero", MOVES, rows, {}).kind == expected


def test_a_game_with_conflict_and_common_interest_is_general_sum() -> None:
    assert dilemma().kind == "general-sum"


def test_a_game_with_too_many_cells_has_no_table_and_counts_as_general_sum() -> None:
    moves = (tuple(range(65)),) * 2
    game = MatrixGame("large", moves, lambda joint: (0.0, 0.0), (0.0, 0.0))
    assert game.cells is None
    assert game.kind == "general-sum"


def test_payoffs_are_floats_and_independent_of_the_lists_they_were_made_from() -> None:
    rows = [[(1, 2), (3, 4)], [(5, 6), (7, 8)]]
    game = table_game("frozen", ("a", "b"), rows, {})
    rows[0][0] = (9, 9)
    assert game.payoff((0, 0)) == (1.0, 2.0)
    assert all(type(value) is float for value in game.payoff((0, 0)) + game.worst)


@pytest.mark.parametrize("value", NOT_NUMBERS + NOT_FINITE, ids=str)
def test_a_payoff_that_is_not_a_finite_number_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match=r"^bad: payoff is "):
        table_game("bad", ("a",), [[(0, value)]], {})


@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_a_value_that_is_not_a_number_is_refused(value: object) -> None:
    with pytest.raises(ParameterError, match=r"^game: x is .+, but must be a number$"):
        check_finite("game", "x", value)


@pytest.mark.parametrize("value", NOT_FINITE, ids=str)
def test_numbers_without_bound_are_refused(value: float) -> None:
    with pytest.raises(
        ParameterError, match=r"^game: x is .+, but must be from -1e\+12 to 1e\+12$"
    ):
        check_finite("game", "x", value)


@given(st.one_of(st.integers(-(10**12), 10**12), st.floats(-LARGEST, LARGEST)))
def test_numbers_within_bounds_are_finite(value: float) -> None:
    check_finite("game", "x", value)


@given(st.lists(st.floats(-1e6, 1e6), max_size=5))
def test_an_order_holds_only_if_each_value_is_greater_than_the_next(values: list[float]) -> None:
    named = {f"v{i}": value for i, value in enumerate(values)}
    if all(a > b for a, b in itertools.pairwise(values)):
        check_order("game", named)
    else:
        with pytest.raises(ParameterError, match="must be greater than v"):
            check_order("game", named)


def test_the_error_for_a_wrong_order_names_both_parameters() -> None:
    with pytest.raises(ParameterError) as caught:
        check_order("game", {"high": 1, "low": 2.5})
    assert str(caught.value) == "game: high is 1, but must be greater than low (2.5)"


@pytest.mark.parametrize("value", [0, 11, 1.0, True, "1", None, math.nan])
def test_a_whole_number_is_an_int_within_its_bounds(value: object) -> None:
    check_whole("game", "x", 1, 1, 10)
    check_whole("game", "x", 10, 1, 10)
    with pytest.raises(ParameterError, match=r"but must be a whole number from 1 to 10$"):
        check_whole("game", "x", value, 1, 10)


def test_a_match_has_one_round_by_default() -> None:
    assert Repetition() == Repetition(rounds=1, continuation=None, discount=1.0, noise=0.0)
    assert Repetition().one_shot
    assert not Repetition(rounds=2).one_shot
    assert not Repetition(rounds=None, continuation=0.0).one_shot


@pytest.mark.parametrize(
    "build",
    [
        lambda: Repetition(rounds=None),
        lambda: Repetition(rounds=5, continuation=0.5),
        lambda: Repetition(continuation=0.5),
    ],
)
def test_a_repetition_has_either_rounds_or_a_continuation(build: Callable[[], object]) -> None:
    with pytest.raises(ParameterError, match="rounds or continuation must be set, but not both"):
        build()


@pytest.mark.parametrize("rounds", [0, -1, MOST_ROUNDS + 1, 2.5, 2.0, True, "2"])
def test_rounds_are_a_whole_number_of_at_least_one(rounds: int) -> None:
    with pytest.raises(ParameterError, match=r"^repetition: rounds is "):
        Repetition(rounds=rounds)


@pytest.mark.parametrize("value", [-0.1, 1.1, *NOT_NUMBERS, *NOT_FINITE], ids=str)
@pytest.mark.parametrize("name", ["discount", "noise"])
def test_discount_and_noise_lie_between_zero_and_one(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"^repetition: {name} is "):
        Repetition(**{name: value})


@pytest.mark.parametrize("value", [-0.1, 1, 1.1, "0.5", True, *NOT_FINITE], ids=str)
def test_a_continuation_probability_of_one_is_refused(value: float) -> None:
    with pytest.raises(ParameterError, match=r"^repetition: continuation is "):
        Repetition(rounds=None, continuation=value)


def test_the_limits_of_each_range_are_allowed() -> None:
    Repetition(discount=1, noise=1)
    Repetition(discount=0, noise=0)
    Repetition(rounds=None, continuation=0)


@given(st.integers(1, MOST_ROUNDS))
def test_a_known_horizon_draws_nothing_from_the_tape(rounds: int) -> None:
    tape = Tape("horizon")
    assert Repetition(rounds=rounds).horizon(tape) == rounds
    assert tape.getstate() == Tape("horizon").getstate()


@pytest.mark.parametrize("p", [0.0, 0.5, 0.9])
def test_a_hidden_horizon_is_geometric(p: float) -> None:
    """The mean number of rounds is 1/(1-p), and a match has one round with probability 1-p."""
    tape = Tape(f"horizon {p}")
    repetition = Repetition(rounds=None, continuation=p)
    drawn = [repetition.horizon(tape) for _ in range(4_000)]
    assert statistics.fmean(drawn) == pytest.approx(1 / (1 - p), rel=0.05)
    assert drawn.count(1) / len(drawn) == pytest.approx(1 - p, abs=0.03)
    assert min(drawn) == 1


def test_a_hidden_horizon_is_the_same_for_the_same_tape() -> None:
    repetition = Repetition(rounds=None, continuation=0.9)
    assert [repetition.horizon(Tape(f"match {i}")) for i in range(6)] == [17, 22, 4, 3, 8, 6]


def test_a_hidden_horizon_ends_at_the_most_rounds_allowed() -> None:
    repetition = Repetition(rounds=None, continuation=1 - 1e-12)
    assert repetition.horizon(Tape("long")) == MOST_ROUNDS


def test_the_key_of_a_setting_has_never_changed() -> None:
    """If this key changes, every recorded match of the game looks like a match of another game."""
    assert Setting(dilemma()).key == "8b45f65a4e95cd1dd473bf04098387ff"


def test_equal_numbers_give_one_key_however_they_are_written() -> None:
    setting = Setting(dilemma(R=3), Repetition(rounds=5, discount=1, noise=0))
    same = Setting(dilemma(R=3.0), Repetition(rounds=5, discount=1.0, noise=0.0))
    assert setting.key == same.key
    assert repr(setting.config) == repr(same.config)


@pytest.mark.parametrize(
    "other",
    [
        Setting(dilemma(R=4)),
        Setting(dilemma(), Repetition(rounds=2)),
        Setting(dilemma(), Repetition(noise=0.1)),
        Setting(dilemma(), Repetition(discount=0.9)),
        Setting(dilemma(), Repetition(rounds=None, continuation=0.9)),
    ],
    ids=["payoff", "rounds", "noise", "discount", "continuation"],
)
def test_everything_that_an_outcome_depends_on_changes_the_key(other: Setting) -> None:
    assert other.key != Setting(dilemma()).key


def test_plain_changes_only_whole_floats() -> None:
    kept: list[object] = [0.5, "3.0", True, None, 7]
    assert [repr(plain(value)) for value in kept] == [repr(value) for value in kept]
    assert repr(plain(3.0)) == "3"
    assert repr(plain(-0.0)) == "0"


def test_the_kinds_of_a_setting_describe_its_rounds_its_seats_and_its_sum() -> None:
    assert Setting(dilemma()).kinds == {"one-shot", "two-seat", "general-sum"}
    assert "repeated" in Setting(dilemma(), Repetition(rounds=2)).kinds
    three = MatrixGame("three", (("a",),) * 3, lambda joint: (1.0,) * 3, (1.0,) * 3)
    assert Setting(three).kinds == {"one-shot", "many-seat", "common-payoff"}
