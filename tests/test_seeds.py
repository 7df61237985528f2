"""Tapes give the same draws in every version, and `fork`, `drop` and `copy` do not change a tape."""

import copy
import pickle
import random
import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.seeds import Tape, tape_name

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
TAPES = st.builds(lambda name, read: Tape(name).drop(read), NAMES, st.integers(0, 50))


def floats(tape: random.Random, count: int = 5) -> list[float]:
    return [tape.random() for _ in range(count)]


def test_the_names_and_draws_of_tapes_have_never_changed() -> None:
    """If these values change, every recorded result changes."""
    name = tape_name("golden")
    assert name == "f0d4245f05553ecb484c9cc245095eac"
    tape = Tape(name)
    assert floats(tape, 2) == [0.6285032334548556, 0.6006788368385911]
    assert tape.getrandbits(70) == 992724162099678178835
    assert tape.fork("a purpose").name == "2ff86cc52030f1067a90de54f46ac802"
    assert tape.drop(3).random() == 0.7952885627664773


def test_draws_through_the_standard_library_have_never_changed() -> None:
    tape = Tape("golden")
    cards = list(range(8))
    tape.shuffle(cards)
    assert cards == [4, 7, 1, 0, 2, 5, 6, 3]
    assert tape.randrange(1000) == 931
    assert tape.choice("abcdef") == "e"
    assert tape.sample(range(50), 3) == [0, 4, 22]
    assert tape.randbytes(4).hex() == "fca2d787"
    assert tape.gauss() == pytest.approx(-1.330151704687326)


@given(NAMES)
def test_tapes_of_one_name_give_the_same_draws(name: str) -> None:
    assert floats(Tape(name)) == floats(Tape(name))


@given(NAMES, NAMES)
def test_tapes_of_different_names_give_different_draws(name: str, other: str) -> None:
    assert (floats(Tape(name)) == floats(Tape(other))) == (name == other)


@given(st.lists(NAMES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_name_depends_on_every_part_and_on_their_order(
    parts: list[str], rng: random.Random
) -> None:
    shuffled = rng.sample(parts, len(parts))
    assert (tape_name(*parts) == tape_name(*shuffled)) == (parts == shuffled)
    assert tape_name(*parts) != tape_name(*parts, "more")


@given(st.lists(NAMES, max_size=4))
def test_a_name_is_32_hexadecimal_digits(parts: list[str]) -> None:
    assert len(tape_name(*parts)) == 32
    assert set(tape_name(*parts)) <= set("0123456789abcdef")


@given(TAPES, st.integers(0, 200))
def test_getrandbits_stays_below_two_to_the_number_of_bits(tape: Tape, k: int) -> None:
    assert 0 <= tape.getrandbits(k) < 2**k


def test_getrandbits_refuses_a_negative_number_of_bits() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        Tape("bits").getrandbits(-1)


@given(TAPES)
def test_a_float_is_a_multiple_of_two_to_the_minus_53_below_one(tape: Tape) -> None:
    drawn = tape.random()
    assert 0 <= drawn < 1
    assert (drawn * 2**53).is_integer()


@given(TAPES, NAMES)
def test_a_fork_does_not_change_its_tape_and_draws_differently(tape: Tape, purpose: str) -> None:
    untouched = floats(tape.copy())
    fork = tape.fork(purpose)
    assert fork.name == tape.fork(purpose).name
    assert floats(fork) != untouched
    assert floats(tape) == untouched


@given(NAMES, NAMES, NAMES)
def test_forks_of_different_tapes_or_purposes_differ(name: str, purpose: str, other: str) -> None:
    fork = Tape(name).fork(purpose)
    assert (fork.name == Tape(name).fork(other).name) == (purpose == other)
    assert (fork.name == Tape(other).fork(purpose).name) == (name == other)


@given(TAPES, st.integers(0, 20))
def test_drop_skips_this_many_floats_and_does_not_change_the_tape(tape: Tape, draws: int) -> None:
    dropped = tape.drop(draws)
    ahead = floats(tape.copy(), draws + 3)
    assert floats(dropped, 3) == ahead[draws:]
    assert floats(tape, draws + 3) == ahead


@given(TAPES, st.integers(0, 3))
def test_copies_and_pickles_give_the_same_draws_even_inside_a_gaussian_pair(
    tape: Tape, gaussians: int
) -> None:
    for _ in range(gaussians):
        tape.gauss()
    copies = [tape.copy(), copy.copy(tape), copy.deepcopy(tape), pickle.loads(pickle.dumps(tape))]
    expected = (tape.gauss(), tape.random(), tape.fork("x").name)
    assert [(t.gauss(), t.random(), t.fork("x").name) for t in copies] == [expected] * 4


@given(TAPES)
def test_setstate_restores_the_state_that_getstate_returned(tape: Tape) -> None:
    tape.gauss()
    state = tape.getstate()
    drawn = [tape.gauss(), *floats(tape)]
    tape.seed("elsewhere")
    tape.setstate(state)
    assert [tape.gauss(), *floats(tape)] == drawn


@given(TAPES, TAPES, st.one_of(st.integers(), NAMES))
def test_seeding_with_a_value_makes_any_two_tapes_equal(
    tape: Tape, other: Tape, value: int | str
) -> None:
    tape.gauss()
    tape.seed(value)
    other.seed(value)
    assert tape.gauss() == other.gauss()


@given(TAPES, st.lists(st.integers(), max_size=20))
def test_equal_tapes_shuffle_choose_and_sample_alike(tape: Tape, cards: list[int]) -> None:
    same, mine, theirs = tape.copy(), list(cards), list(cards)
    tape.shuffle(mine)
    same.shuffle(theirs)
    assert mine == theirs
    assert sorted(mine) == sorted(cards)
    assert tape.sample(cards, len(cards)) == same.sample(cards, len(cards))
    assert floats(tape) == floats(same)


def test_floats_are_uniform_in_mean_and_variance() -> None:
    drawn = floats(Tape("mean"), 20_000)
    assert statistics.fmean(drawn) == pytest.approx(1 / 2, abs=0.01)
    assert statistics.pvariance(drawn) == pytest.approx(1 / 12, abs=0.005)


def test_every_order_of_three_cards_comes_up_equally_often() -> None:
    tape, times = Tape("cards"), Counter[tuple[int, ...]]()
    for _ in range(6_000):
        times[tuple(tape.sample(range(3), 3))] += 1
    assert len(times) == 6
    assert all(900 < count < 1_100 for count in times.values())


def test_single_bits_are_fair() -> None:
    tape = Tape("bits")
    assert sum(tape.getrandbits(1) for _ in range(10_000)) == pytest.approx(5_000, abs=200)


def test_the_first_draws_of_tapes_with_neighbouring_names_are_unrelated() -> None:
    """The names of tapes of consecutive matches differ in one digit."""
    first = [Tape(tape_name("run", match)).random() for match in range(4_000)]
    assert statistics.fmean(first) == pytest.approx(1 / 2, abs=0.02)
    assert abs(statistics.correlation(first[:-1], first[1:])) < 0.05
