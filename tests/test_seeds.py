"""Tapes give the same draws for ever, and `fork`, `drop` and `copy` leave them alone."""

import copy
import hashlib
import pickle
import random
import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.seeds import CHUNK, Tape, tape_name

NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
POSITIONS = st.integers(0, 10**6)
TAPES = st.builds(Tape, NAMES, POSITIONS)


def floats(tape: random.Random, count: int = 5) -> list[float]:
    return [tape.random() for _ in range(count)]


def test_the_name_and_the_draws_of_a_tape_are_what_they_have_always_been() -> None:
    """A change here changes every result ever recorded."""
    name = tape_name("golden")
    assert name == "dd56de4137951d9c92681b03416ec15f"
    tape = Tape(name)
    assert floats(tape, 2) == [0.4447639974786327, 0.9158127811383046]
    assert tape.getrandbits(70) == 18833079071166560608
    assert tape.position == 4
    assert tape.fork("a purpose").name == "fb2617487d7fbd55b0e9cecae7a4cbaf"
    assert tape.drop(3).random() == 0.38805993133315386


def test_what_is_drawn_through_the_standard_library_is_what_it_has_always_been() -> None:
    tape = Tape("golden")
    cards = list(range(8))
    tape.shuffle(cards)
    assert cards == [7, 6, 2, 0, 5, 4, 1, 3]
    assert tape.randrange(1000) == 613
    assert tape.choice("abcdef") == "a"
    assert tape.sample(range(50), 3) == [18, 26, 30]
    assert tape.randbytes(4).hex() == "c14b1e57"
    assert tape.gauss() == pytest.approx(-0.9212299810608119)


@given(NAMES, POSITIONS)
def test_tapes_of_one_name_and_position_give_the_same_draws(name: str, position: int) -> None:
    assert floats(Tape(name, position)) == floats(Tape(name, position))


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


@given(NAMES, st.integers(0, 5 * CHUNK))
def test_a_word_of_a_tape_is_a_quarter_of_the_digest_of_its_name_and_place(
    name: str, position: int
) -> None:
    digest = hashlib.sha256(f"{name}/{position // 4}".encode()).digest()
    word = digest[position % 4 * 8 :][:8]
    assert Tape(name, position).getrandbits(64) == int.from_bytes(word, "big")
    assert Tape(name).drop(position).position == position


@given(NAMES, st.lists(st.integers(0, 300), max_size=20))
def test_a_number_of_bits_is_the_top_of_as_many_words_as_it_takes(
    name: str, sizes: list[int]
) -> None:
    tape, words = Tape(name), Tape(name)
    for k in sizes:
        count = -(-k // 64)
        bits = 0
        for _ in range(count):
            bits = bits << 64 | words.getrandbits(64)
        assert tape.getrandbits(k) == bits >> (64 * count - k) < 2**k
        assert tape.position == words.position


@given(TAPES)
def test_a_float_is_the_top_53_bits_of_a_word(tape: Tape) -> None:
    word = tape.copy().getrandbits(64)
    start = tape.position
    assert tape.random() == (word >> 11) / 2**53 < 1
    assert tape.position == start + 1


def test_getrandbits_refuses_a_negative_number_of_bits() -> None:
    with pytest.raises(ValueError, match="non-negative"):
        Tape("bits").getrandbits(-1)


@given(TAPES, NAMES)
def test_a_fork_leaves_its_tape_alone_and_draws_otherwise(tape: Tape, purpose: str) -> None:
    untouched = floats(tape.copy())
    fork = tape.fork(purpose)
    assert fork.name == tape.fork(purpose).name
    assert floats(fork) != untouched
    assert floats(tape) == untouched


@given(TAPES, NAMES, NAMES)
def test_forks_differ_by_purpose_and_by_position(tape: Tape, purpose: str, other: str) -> None:
    here = tape.fork(purpose).name
    assert (here == tape.fork(other).name) == (purpose == other)
    tape.random()
    assert here != tape.fork(purpose).name


@given(TAPES, st.integers(0, 20))
def test_dropping_draws_skips_so_many_floats_and_leaves_the_tape_alone(
    tape: Tape, draws: int
) -> None:
    dropped = tape.drop(draws)
    ahead = floats(tape.copy(), draws + 3)
    assert floats(dropped, 3) == ahead[draws:]
    assert floats(tape, draws + 3) == ahead


@given(TAPES, st.integers(0, 3))
def test_copies_and_pickles_give_the_same_draws_even_in_the_middle_of_a_gaussian_pair(
    tape: Tape, gaussians: int
) -> None:
    for _ in range(gaussians):
        tape.gauss()
    twins = [tape.copy(), copy.copy(tape), copy.deepcopy(tape), pickle.loads(pickle.dumps(tape))]
    expected = (tape.gauss(), tape.random())
    assert [(twin.gauss(), twin.random()) for twin in twins] == [expected] * 4


@given(TAPES)
def test_setstate_goes_back_to_where_getstate_was(tape: Tape) -> None:
    tape.gauss()
    state = tape.getstate()
    drawn = [tape.gauss(), *floats(tape)]
    tape.seed("elsewhere")
    tape.setstate(state)
    assert [tape.gauss(), *floats(tape)] == drawn


@given(TAPES, TAPES, st.one_of(st.integers(), NAMES))
def test_seeding_with_a_value_forgets_what_the_tape_was(
    tape: Tape, other: Tape, value: object
) -> None:
    tape.gauss()
    tape.seed(value)
    other.seed(value)
    assert tape.gauss() == other.gauss()


def test_seeding_tells_a_number_from_its_digits() -> None:
    number, digits = Tape("x"), Tape("x")
    number.seed(1)
    digits.seed("1")
    assert number.random() != digits.random()


@given(TAPES)
def test_seeding_with_nothing_is_repeatable(tape: Tape) -> None:
    twin = tape.copy()
    tape.seed()
    twin.seed()
    assert tape.name == twin.name
    assert floats(tape) == floats(twin)


@given(TAPES, st.lists(st.integers(), max_size=20))
def test_equal_tapes_shuffle_choose_and_sample_alike(tape: Tape, cards: list[int]) -> None:
    twin, mine, theirs = tape.copy(), list(cards), list(cards)
    tape.shuffle(mine)
    twin.shuffle(theirs)
    assert mine == theirs
    assert sorted(mine) == sorted(cards)
    assert tape.sample(cards, len(cards)) == twin.sample(cards, len(cards))
    assert tape.position == twin.position


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


def test_bits_that_do_not_fill_a_byte_are_fair() -> None:
    tape = Tape("bits")
    assert sum(tape.getrandbits(1) for _ in range(10_000)) == pytest.approx(5_000, abs=200)
