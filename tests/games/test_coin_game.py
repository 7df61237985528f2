"""The coin game keeps its rules."""

import json
import statistics
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournament.games import coin_game
from tournament.games.coin_game import MOVES, Cell, State

from tests.games.native import Table
from tournament.game import StateGame
from tournament.seeds import Tape

SEEDS = st.integers(0, 10_000)
MOVE = st.sampled_from(range(len(MOVES)))


def build(**parameters: Any) -> StateGame:
    return coin_game.game(**parameters)


def after(
    players: tuple[Cell, Cell], coins: tuple[Cell, Cell], *moves: str, **parameters: Any
) -> tuple[State, tuple[float, ...]]:
    """Return the state after a round with these moves, and the payoffs of the round."""
    joint = tuple(map(MOVES.index, moves))
    return build(**parameters).step(State(players, coins), joint, Tape("respawn"))


@cache
def welfare(*bots: str) -> list[float]:
    """Return the mean payoff of each seat in a match."""
    totals = [Table(build(), bots, Tape(f"{seed}")).play().totals for seed in range(200)]
    return [statistics.mean(seat) for seat in zip(*totals, strict=True)]


@pytest.mark.parametrize(
    ("move", "end"), [("up", (2, 0)), ("down", (1, 0)), ("left", (0, 2)), ("right", (0, 1))]
)
def test_a_step_over_an_edge_leads_to_the_opposite_edge(move: str, end: Cell) -> None:
    now, paid = after(((0, 0), (1, 1)), ((2, 2), (2, 2)), move, "left", anywhere=True)
    assert now.players == (end, (1, 0))
    assert paid == (0, 0)


@pytest.mark.parametrize(
    ("coins", "paid"),
    [
        (((0, 1), (2, 2)), (1, 0)),
        (((2, 2), (0, 1)), (1, -2)),
        (((2, 2), (1, 0)), (0, 1)),
        (((1, 0), (2, 2)), (-2, 1)),
        (((0, 1), (1, 0)), (1, 1)),
        (((1, 0), (0, 1)), (-1, -1)),
    ],
    ids=["own", "other's", "own of second", "other's of second", "both own", "both other's"],
)
def test_a_coin_pays_the_seat_that_takes_it_and_costs_its_owner_if_the_other_takes_it(
    coins: tuple[Cell, Cell], paid: tuple[float, float]
) -> None:
    """Seat 0 steps to (0, 1), and seat 1 to (1, 0)."""
    now, got = after(((0, 0), (2, 0)), coins, "right", "up")
    assert got == paid
    for before, coin in zip(coins, now.coins, strict=True):
        assert (coin == before) == (before == (2, 2))


def test_two_seats_that_step_on_one_coin_both_take_it() -> None:
    now, paid = after(((0, 0), (0, 2)), ((0, 1), (2, 2)), "right", "left")
    assert now.players == ((0, 1), (0, 1))
    assert paid == (-1, 1)


@given(SEEDS, st.integers(3, 6), st.lists(st.tuples(MOVE, MOVE), min_size=1, max_size=30))
def test_there_are_always_two_coins_in_free_cells(
    seed: int, size: int, joints: list[tuple[int, int]]
) -> None:
    states = [state for state, _ in build(size=size).episode(Tape(f"{seed}"), joints)]
    for state in states:
        assert not {*state.players} & {*state.coins}
        assert state.coins[0] != state.coins[1]
        assert all(0 <= min(cell) <= max(cell) < size for cell in state.players + state.coins)


@given(SEEDS, st.lists(st.tuples(MOVE, MOVE), min_size=1, max_size=30), st.booleans())
def test_a_coin_stays_until_it_is_taken_and_welfare_counts_the_coins(
    seed: int, joints: list[tuple[int, int]], anywhere: bool
) -> None:
    course = list(build(anywhere=anywhere).episode(Tape(f"{seed}"), joints))
    for (before, _), (now, paid) in pairwise(course):
        for coin, then in zip(before.coins, now.coins, strict=True):
            assert coin in now.players or coin == then
        taken = [[player == coin for coin in before.coins] for player in now.players]
        assert paid[0] == sum(taken[0]) - 2 * taken[1][0]
        assert paid[1] == sum(taken[1]) - 2 * taken[0][1]


@pytest.mark.parametrize(("anywhere", "cells"), [(False, 6), (True, 9)])
def test_a_new_coin_appears_in_every_free_cell_with_equal_probability(
    anywhere: bool, cells: int
) -> None:
    tape, game = Tape("respawn"), build(anywhere=anywhere)
    before = State(((0, 0), (2, 2)), ((0, 1), (1, 1)))
    coins = [game.step(before, (3, 0), tape)[0].coins[0] for _ in range(6000)]
    assert len(set(coins)) == cells
    for coin in set(coins):
        assert coins.count(coin) == pytest.approx(6000 / cells, abs=150)
    assert ({(0, 1), (1, 2), (1, 1)} <= set(coins)) == anywhere


def test_a_seat_observes_its_own_player_and_coin_first() -> None:
    state = State(((0, 0), (2, 1)), ((0, 1), (1, 1)), step=3)
    observed = json.loads(json.dumps([build().observe(state, seat) for seat in (0, 1)]))
    assert observed[0] == {
        "size": 3,
        "step": 3,
        "me": [0, 0],
        "other": [2, 1],
        "my_coin": [0, 1],
        "other_coin": [1, 1],
    }
    assert [observed[1][part] for part in ("me", "other", "my_coin", "other_coin")] == [
        observed[0][part] for part in ("other", "me", "other_coin", "my_coin")
    ]


def test_an_episode_has_ten_steps() -> None:
    table = Table(build(), ["coin_greedy"] * 2, Tape("any")).play()
    assert len(table.paid) == build().most_rounds == 10


def test_considerate_never_takes_the_other_seats_coin() -> None:
    for size in (3, 4, 7):
        for seed in range(30):
            table = Table(build(size=size, horizon=40), ["coin_considerate"] * 2, Tape(f"{seed}"))
            assert min(min(paid) for paid in table.play().paid) >= 0


def test_considerate_walks_around_the_other_seats_coin() -> None:
    for size in (3, 5, 7, 9):
        table = Table(build(size=size), ["coin_considerate"] * 2, Tape("any"))
        table.states = [State(((0, 0), (4 % size, 4 % size)), ((0, 2), (0, 1)))]
        while table.states[-1].players[0] != (0, 2):
            moves = table.moves()
            row, column = coin_game.WAYS[moves[0]]
            (x, y), other = table.states[-1].players
            player = ((x + row) % size, (y + column) % size)
            table.states.append(table.states[-1]._replace(players=(player, other)))
            assert player != (0, 1)
            assert len(table.states) < 8


def test_the_coin_game_is_a_social_dilemma() -> None:
    """Greedy play pays more against both bots, but two greedy bots are paid less than two considerate ones."""
    kind = welfare("coin_considerate", "coin_considerate")
    mixed = welfare("coin_greedy", "coin_considerate")
    greedy = welfare("coin_greedy", "coin_greedy")
    assert mixed[0] > kind[0] > greedy[0] > mixed[1]


def test_tit_for_tat_leaves_coins_to_considerate_and_takes_them_from_greedy() -> None:
    kind = welfare("coin_considerate", "coin_considerate")
    assert welfare("coin_tit_for_tat", "coin_considerate") == kind
    assert welfare("coin_tit_for_tat", "coin_tit_for_tat") == kind
    to_greedy = [welfare(bot, "coin_greedy")[1] for bot in ("coin_tit_for_tat", "coin_considerate")]
    assert to_greedy[0] < to_greedy[1]


def test_tit_for_tat_retaliates_until_the_other_takes_its_own_coin() -> None:
    """Its own coin is next to it on the right, and the other seat's coin is on the left."""
    table = Table(build(size=9), ["coin_tit_for_tat"] * 2, Tape("any"))

    def sees(other: Cell, coins: tuple[Cell, Cell]) -> Any:
        table.states = [State(((4, 4), other), coins)]
        return table.moves()[0]

    right, left = (4, 6), (4, 2)
    assert sees((0, 0), (right, left)) == "right"
    assert sees(right, ((4, 7), left)) == "left"
    assert sees((4, 8), ((4, 7), left)) == "left"
    assert sees(left, ((4, 7), (4, 1))) == "right"
