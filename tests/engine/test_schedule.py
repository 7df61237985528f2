"""Who meets whom is a property of the bots and the game, and never of the order in which they came."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.engine import schedule
from tournament.engine.schedule import batches, players_to_check, round_robin
from tournament.errors import UsageError
from tournament.game import MatrixGame, Repetition, Setting
from tournament.library import load_game
from tournament.match import Fixture

PAIR = Setting(load_game("prisoners_dilemma"))
THREE = Setting(load_game("public_goods"))
ROLES = Setting(load_game("matching_pennies"))
THREE_ROLES = Setting(
    MatrixGame("leader", (("a", "b"),) * 3, lambda joint: (joint[0], joint[0], 0.0), (0.0,) * 3)
)
ALL = (PAIR, THREE, ROLES, THREE_ROLES)

settings = st.sampled_from(ALL)
symmetric = st.sampled_from((PAIR, THREE))
digests = st.lists(
    st.text("0123456789abcdef", min_size=3, max_size=3), min_size=1, max_size=6, unique=True
)
repetitions = st.integers(1, 6)
workers = st.integers(1, 9)


def lineups(fixtures: list[Fixture]) -> Counter[tuple[tuple[str, ...], int]]:
    """How often each company of programs meets in each repetition, wherever they sit."""
    return Counter((tuple(sorted(each.lineup)), each.repetition) for each in fixtures)


@given(symmetric, digests, repetitions)
def test_where_seats_are_alike_every_company_meets_once_a_repetition(
    setting: Setting, programs: list[str], count: int
) -> None:
    seats = setting.game.seats
    companies = itertools.combinations_with_replacement(sorted(programs), seats)
    expected = Counter(itertools.product(companies, range(count)))
    assert lineups(round_robin(setting, programs, count)) == expected


@given(st.sampled_from((ROLES, THREE_ROLES)), digests, repetitions)
def test_where_seats_differ_every_order_of_seats_is_played_once_a_repetition(
    setting: Setting, programs: list[str], count: int
) -> None:
    tables = itertools.product(programs, repeat=setting.game.seats)
    expected = Counter(Fixture(table, r) for table in tables for r in range(count))
    assert Counter(round_robin(setting, programs, count)) == expected


@given(settings, digests, repetitions)
def test_every_program_meets_itself(setting: Setting, programs: list[str], count: int) -> None:
    alone = {(program,) * setting.game.seats for program in programs}
    assert alone <= {each.lineup for each in round_robin(setting, programs, count)}


@given(settings, digests, st.integers(1, 2))
def test_every_program_sits_in_every_seat_equally_often(
    setting: Setting, programs: list[str], times: int
) -> None:
    seats = setting.game.seats
    fixtures = round_robin(setting, programs, seats * times)
    sat = Counter(
        (tuple(sorted(each.lineup)), seat, program)
        for each in fixtures
        for seat, program in enumerate(each.lineup)
    )
    for company, program in {(company, program) for company, _, program in sat}:
        assert len({sat[company, seat, program] for seat in range(seats)}) == 1


@given(settings, st.data())
def test_the_order_in_which_bots_came_does_not_matter(
    setting: Setting, data: st.DataObject
) -> None:
    programs = data.draw(digests)
    again = data.draw(st.permutations(programs))
    assert round_robin(setting, programs, 3) == round_robin(setting, again, 3)


@given(settings, digests, repetitions, st.integers(1, 3))
def test_more_repetitions_and_more_bots_only_add_fixtures(
    setting: Setting, programs: list[str], count: int, more: int
) -> None:
    fixtures = set(round_robin(setting, programs, count))
    assert fixtures < set(round_robin(setting, programs, count + more))
    assert fixtures < set(round_robin(setting, [*programs, "fff0"], count))


@pytest.mark.parametrize(
    ("setting", "count", "reps"),
    [
        (PAIR, 1_415, 1),
        (PAIR, 10, 10**30),
        (ROLES, 1_001, 1),
        (THREE, 200, 1),
        (THREE_ROLES, 101, 1),
    ],
)
def test_more_lineups_than_can_be_played_are_refused_in_one_line(
    setting: Setting, count: int, reps: int
) -> None:
    with pytest.raises(UsageError, match=f"^{count:,} bots at .* enter fewer bots$"):
        round_robin(setting, [str(number) for number in range(count)], reps)


@given(settings, digests, repetitions, workers)
def test_batches_are_a_partition_of_the_fixtures(
    setting: Setting, programs: list[str], count: int, hands: int
) -> None:
    fixtures = round_robin(setting, programs, count)
    plan = batches(setting, fixtures, hands)
    assert Counter(itertools.chain.from_iterable(plan)) == Counter(fixtures)
    assert all(plan)


@given(settings, digests, repetitions, workers)
def test_every_worker_has_the_same_amount_of_work(
    setting: Setting, programs: list[str], count: int, hands: int
) -> None:
    fixtures = round_robin(setting, programs, count)
    plan = batches(setting, fixtures, hands)
    sizes = [len(piece) for piece in plan]
    assert len(plan) == min(hands, len(fixtures))
    assert max(sizes) - min(sizes) <= 1


@given(settings, workers, st.data())
def test_batches_do_not_depend_on_the_order_of_fixtures(
    setting: Setting, hands: int, data: st.DataObject
) -> None:
    fixtures = round_robin(setting, data.draw(digests), 2)
    again = data.draw(st.permutations(fixtures))
    assert batches(setting, fixtures, hands) == batches(setting, again, hands)


def test_nothing_to_play_makes_no_batches() -> None:
    assert batches(PAIR, [], 2) == []
    assert players_to_check([], 0) == []


@pytest.mark.parametrize(
    "repetition",
    [
        Repetition(),
        Repetition(rounds=100_000),
        Repetition(rounds=None, continuation=0.9999999999999999),
        Repetition(rounds=None, continuation=0.0),
    ],
)
def test_no_batch_is_larger_than_a_worker_can_hold(repetition: Repetition) -> None:
    setting = Setting(PAIR.game, repetition)
    plan = batches(setting, round_robin(setting, [f"{n:03}" for n in range(60)], 5), 1)
    largest = max(map(len, plan))
    rounds = repetition.rounds or 1
    assert largest == 1 or largest * rounds * 2 <= schedule.MOST_MOVES
    assert largest <= schedule.MOST_MATCHES


@given(settings, digests, repetitions, workers, st.integers())
def test_every_program_has_a_seat_that_is_checked(
    setting: Setting, programs: list[str], count: int, hands: int, seed: int
) -> None:
    plan = batches(setting, round_robin(setting, programs, count), hands)
    checks = players_to_check(plan, seed)
    checked = {
        plan[number][slot // setting.game.seats].lineup[slot % setting.game.seats]
        for number, slots in enumerate(checks)
        for slot in slots
    }
    assert checked == set(programs)
    assert all(slots == sorted(set(slots)) for slots in checks)


def test_a_program_is_checked_where_it_has_most_matches() -> None:
    plan = [
        [Fixture(("a", "b"), 0), Fixture(("a", "a"), 0), Fixture(("b", "a"), 1)],
        [Fixture(("b", "c"), 0), Fixture(("b", "c"), 1), Fixture(("c", "b"), 2)],
        [Fixture(("a", "c"), 1)],
    ]
    assert players_to_check(plan, 0) == [[5], [4, 5], []]


def test_about_one_seat_in_a_thousand_is_checked_beside_and_another_seed_checks_others() -> None:
    fixtures = round_robin(PAIR, [f"{n:03}" for n in range(20)], 100)
    first, second = (players_to_check([fixtures], seed)[0] for seed in (1, 2))
    assert 20 < len(first) - 20 < 70  # 42 expected
    assert len(set(first) & set(second)) < 30
    assert first == players_to_check([fixtures], 1)[0]


def test_what_is_sampled_depends_on_the_fixture_and_not_on_its_batch() -> None:
    fixtures = round_robin(PAIR, [f"{n:03}" for n in range(20)], 100)
    half = len(fixtures) // 2

    def sampled(plan: list[list[Fixture]]) -> set[tuple[Fixture, int]]:
        checks = players_to_check(plan, 5)
        pairs = zip(plan, checks, strict=True)
        return {(piece[slot // 2], slot % 2) for piece, slots in pairs for slot in slots}

    whole, halves = sampled([fixtures]), sampled([fixtures[:half], fixtures[half:]])
    assert len(whole ^ halves) <= 2 * 20  # the last seat of each program moves
