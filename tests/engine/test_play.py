"""Fast play means the same as strict play, and what is paid for it is what was agreed."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches import THREE_ROUNDS, batch_of, match_of, matches_of
from tournament.engine.batch import Batch, Played
from tournament.engine.group import UNSEEN, Answer, Group
from tournament.engine.play import play
from tournament.engine.scoring import outcomes, payoffs
from tournament.game import MatrixGame, Repetition, Setting, code
from tournament.library import load_game
from tournament.match import FAULTS, Fault, Fixture
from tournament.sandbox.instance import Image
from tournament.sandbox.limits import Limits

PRISONERS = load_game("prisoners_dilemma")
TWELVE = Repetition(rounds=12)
SETTINGS = {
    "once": Setting(PRISONERS),
    "repeated": Setting(PRISONERS, TWELVE),
    "discounted": Setting(PRISONERS, Repetition(rounds=12, discount=0.9)),
    "noisy": Setting(PRISONERS, Repetition(rounds=12, noise=0.2)),
    "always disturbed": Setting(PRISONERS, Repetition(rounds=12, noise=1.0)),
    "of hidden length": Setting(PRISONERS, Repetition(rounds=None, continuation=0.9, noise=0.05)),
    "of one round": Setting(PRISONERS, Repetition(rounds=None, continuation=0.0)),
    "of three moves": Setting(load_game("rock_paper_scissors"), TWELVE),
    "of different seats": Setting(load_game("battle_of_the_sexes"), TWELVE),
    "of three seats": Setting(load_game("public_goods"), TWELVE),
    "of five seats": Setting(load_game("public_goods", {"seats": "5"}), Repetition(rounds=4)),
}

BOTS = {
    "first": "def act(view): return view.legal[0]",
    "last": "def act(view): return view.legal[-1]",
    "coin": "def act(view): return view.rng.choice(view.legal)",
    "module": "import random\ndef act(view): return random.choice(view.legal)",
    "public": "def act(view): return view.shared.choice(view.legal)",
    "echo": """
def act(view):
    seen = str(view.theirs[-1:]) + str(view.history[:2]) + str(view.mine[-3:])
    return view.legal[(sum(seen.encode()) + view.seat) % len(view.legal)]
""",
    "reader": """
def act(view):
    texts = [each.source + each.tree + each.digest for each in (view.me, *view.others)]
    return view.legal[sum(map(len, texts)) % len(view.legal)]
""",
    "class": """
class Bot:
    moves = []

    def __init__(self):
        self.calls = 0

    def act(self, view):
        self.calls += 1
        self.moves.append(self.calls)
        return view.legal[len(self.moves) % len(view.legal)]
""",
    "looks late": """
calls = []

def act(view):
    calls.append(str(view.mine) if len(calls) % 4 == 2 else len(calls))
    seen = view.theirs if len(calls) % 5 == 4 else calls
    return view.legal[sum(str(seen).encode()) % len(view.legal)]
""",
    "meddles": """
rounds = []

def act(view):
    rounds.append(len(rounds))
    if len(rounds) == 3:
        view.theirs = ["nothing"]
    elif len(rounds) == 5:
        del view.theirs
        view.mine.clear()
    try:
        seen = type(view).theirs.__get__(view) if len(rounds) < 7 else view.theirs + view.mine
    except AttributeError:
        seen = rounds
    return view.legal[sum(str(seen).encode()) % len(view.legal)]
""",
    "peeks": """
def act(view):
    seen = getattr(view, "the" + "irs") if len(view.mine) > 10 else view.mine
    return view.legal[sum(str(seen).encode()) % len(view.legal)]
""",
    "keeps what it peeked at": """
kept = []

def act(view):
    if not kept:
        kept.append(getattr(view, "the" + "irs"))
    return view.legal[sum(str(kept).encode()) % len(view.legal)]
""",
    "late error": "def act(view): return view.legal[0] if len(view.mine) < 5 else 1 / 0",
    "error by chance": "def act(view): return view.legal[0] if view.rng.random() < 0.9 else 1 / 0",
    "illegal for some": "def act(view): return view.legal[0] if view.seat else 'X'",
    "true": "def act(view): return True",
    "does not load": "def act(view:",
    "raises at load": "1 / 0",
    "spins": "def act(view):\n    while len(view.mine) == 2: pass\n    return view.legal[0]",
    "spins by chance": "def act(view):\n    while view.rng.random() < 0.05:\n        while True: pass\n"
    "    return view.legal[-1]",
    "spins at load": "while True: pass",
    "slower and slower": "def act(view):\n    for _ in range(9_000 * len(view.mine)): pass\n"
    "    return view.legal[len(view.mine) % 2]",
    "slow": "def act(view):\n    for _ in range(20_000): pass\n    return view.legal[0]",
    "holds much": "held = bytearray(6 << 20)\ndef act(view): return view.legal[0]",
    "holds more": "held = []\ndef act(view):\n    held.append(bytearray(5 << 20))\n    return view.legal[0]",
    "too much": "def act(view): return [0] * (1 << 25) and view.legal[0]",
    "breaks": "import select\ndef act(view):\n"
    "    if len(view.mine) == 3: select.select([], [], [], 0)\n    return view.legal[-1]",
    "deep": "def act(view, depth=0): return act(view, depth + 1) if depth < 300 else view.legal[0]",
    "simulates": "def act(view):\n    move = view.simulate(view.them or view.others[0])\n"
    "    return move if move in view.legal else view.legal[-1]",
}  # fmt: skip
QUICK = Limits(fuel=30_000_000)
"""Soon used up."""
quick = partial(batch_of, limits=QUICK)
ROOMY = Limits(fuel=400_000_000)
"""Enough for many rounds in a call."""
HONEST = (
    "first",
    "coin",
    "module",
    "public",
    "echo",
    "reader",
    "class",
    "looks late",
    "meddles",
    "peeks",
    "keeps what it peeked at",
)
HARMFUL = [name for name in BOTS if name not in HONEST]


def both(sandbox: Image, batch: Batch) -> tuple[Played, Played]:
    """A batch in fast play and in strict play."""
    return play(sandbox, batch), play(sandbox, replace(batch, alone=True))


def lineups(names: Sequence[str], seats: int) -> list[list[str]]:
    """Every bot against its neighbours in the list, in every seat, and against itself."""
    turns = range(len(names))
    return [
        [BOTS[names[(turn + step * seat) % len(names)]] for seat in range(seats)]
        for turn in turns
        for step in (0, 1)
    ]


# Fast is strict


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_all_sorts_of_bots_together_play_as_each_alone(sandbox: Image, setting: Setting) -> None:
    names = [name for pair in itertools.zip_longest(HARMFUL, HONEST) for name in pair if name]
    batch = quick(*lineups(names, setting.game.seats), setting=setting)
    fast, strict = both(sandbox, batch)
    assert matches_of(batch, fast) == matches_of(batch, strict)
    assert {fault.kind for fault in fast.faults.values()} >= {"load", "illegal", "fuel", "memory"}
    assert not strict.leaky


@pytest.mark.parametrize("seats", [2, 3])
def test_programs_that_seem_to_read_no_moves_play_ahead_and_make_the_same_moves(
    sandbox: Image, seats: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[Group, Sequence[str]]] = []

    def listened(group: Group, lines: Sequence[str]) -> list[Answer]:
        calls.append((group, lines))
        return answers(group, lines)

    answers = Group.play
    monkeypatch.setattr(Group, "play", listened)
    names = ["coin", "peeks", "echo", "class", "late error", "keeps what it peeked at", "last"]
    names += ["error by chance", "looks late", "spins"]
    setting = SETTINGS["repeated" if seats == 2 else "of three seats"]
    batch = batch_of(*lineups(names, seats), setting=setting, limits=ROOMY)
    fast, strict = both(sandbox, batch)
    assert matches_of(batch, fast) == matches_of(batch, strict)
    assert not fast.leaky
    assert len({group for group, lines in calls if UNSEEN in lines}) >= 7


@pytest.mark.parametrize("name", HARMFUL)
def test_a_batch_of_one_bot_s_matches_is_split_until_each_is_as_alone(
    sandbox: Image, name: str
) -> None:
    pairs = [[BOTS[name], BOTS[other]] for other in HONEST] * 2
    batch = quick(*pairs, [BOTS[name]] * 2, setting=SETTINGS["repeated"])
    fast, strict = both(sandbox, batch)
    assert matches_of(batch, fast) == matches_of(batch, strict)
    assert not fast.leaky


@pytest.mark.parametrize(
    ("name", "kind", "round_number"),
    [
        ("does not load", "load", 0),
        ("raises at load", "load", 0),
        ("spins at load", "fuel", 0),
        ("true", "illegal", 0),
        ("too much", "memory", 0),
        ("spins", "fuel", 2),
        ("breaks", "crash", 3),
        ("late error", "error", 5),
        ("holds more", "memory", 9),
        ("slower and slower", "fuel", 10),
    ],
)
def test_a_fault_is_recorded_in_its_round_and_no_move_of_that_round_counts(
    sandbox: Image, name: str, kind: str, round_number: int
) -> None:
    batch = quick(
        [BOTS["coin"], BOTS[name]], [BOTS[name], BOTS["coin"]], setting=SETTINGS["repeated"]
    )
    for played in both(sandbox, batch):
        for slot in (1, 2):
            fault = played.faults[slot]
            assert (fault.seat, fault.kind, fault.round) == (slot % 2, kind, round_number)
            assert fault.kind in FAULTS
        assert set(played.faults) == {1, 2}
        assert [len(moves) for moves in played.moves] == [round_number] * 4


@pytest.mark.parametrize("name", ["slow", "holds much"])
def test_what_is_too_much_for_all_together_is_no_fault_of_any(sandbox: Image, name: str) -> None:
    batch = quick(*[[BOTS[name], BOTS["coin"]]] * 20, setting=THREE_ROUNDS)
    fast, strict = both(sandbox, batch)
    assert fast.faults == strict.faults == {}
    assert fast.moves == strict.moves
    assert not fast.leaky


def test_two_seats_may_be_at_fault_at_once(sandbox: Image) -> None:
    names = [("does not load", "spins at load"), ("true", "does not load"), ("too much", "true")]
    batch = quick(*[[BOTS[name] for name in pair] for pair in names], [BOTS["true"]] * 2)
    for played in both(sandbox, batch):
        assert [played.faults[slot].kind for slot in range(8)] == [
            "load", "fuel", "illegal", "load", "memory", "illegal", "illegal", "illegal",
        ]  # fmt: skip
        assert played.moves == [""] * 8


def test_a_match_goes_to_its_own_horizon_and_ends_alone(sandbox: Image) -> None:
    setting = SETTINGS["of hidden length"]
    batch = quick(*[[BOTS["class"], BOTS["echo"]]] * 12, setting=setting)
    fast, strict = both(sandbox, batch)
    assert matches_of(batch, fast) == matches_of(batch, strict)
    assert [len(moves) for moves in fast.moves[::2]] == batch.horizons
    assert len(set(batch.horizons)) > 4


def test_noise_replaces_moves_and_what_was_intended_is_kept(sandbox: Image) -> None:
    setting = SETTINGS["always disturbed"]
    batch = quick([BOTS["first"], BOTS["last"]], setting=setting)
    played = play(sandbox, batch)
    assert played.intended == ["0" * 12, "1" * 12]
    assert played.moves == ["1" * 12, "0" * 12]
    seen = "def act(view): return view.theirs[-1] if view.theirs else 'C'"
    assert play(sandbox, quick([seen, BOTS["first"]], setting=setting)).intended == [
        "0" + "1" * 11,
        "0" * 12,
    ]


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_every_seat_sees_the_match_from_where_it_sits(sandbox: Image, seats: int) -> None:
    bot = """
def act(view):
    n = len(view.mine)
    own = view.game.moves[0].index
    if n:
        last = view.history[-1]
        turned = last[view.seat + 1:] + last[:view.seat]
        assert last[view.seat] == view.mine[-1]
        assert view.theirs[-1] == (turned[0] if len(last) == 2 else turned)
        assert last == tuple(view.legal[(n - 1 + 3 * seat) % len(view.legal)] for seat in range(len(last)))
        assert len(view.history) == len(view.theirs) == n
        assert [each.digest for each in view.others] == [view.me.digest] * (len(last) - 1)
    assert (view.them is None) == (len(view.others) > 1)
    return view.legal[(n + 3 * view.seat) % len(view.legal)]
"""
    game = PRISONERS if seats == 2 else load_game("public_goods", {"seats": str(seats)})
    batch = quick([bot] * seats, [bot] * seats, setting=Setting(game, Repetition(rounds=5)))
    for played in both(sandbox, batch):
        assert not played.faults


# A match is a function of what is in it


@pytest.mark.parametrize(
    "setting", [SETTINGS["repeated"], SETTINGS["of hidden length"], SETTINGS["of three seats"]]
)
def test_strict_play_does_not_depend_on_the_company_and_neither_does_its_fuel(
    sandbox: Image, setting: Setting
) -> None:
    seats = setting.game.seats
    nosy = """
import sys, wit_world

def act(view):
    table = sys.modules["app"].bot
    seen = str([len(table.matches), sorted(table.texts), view._number])
    for each in view.others:
        seen += wit_world.host("source " + each.digest)
    return view.legal[sum(seen.encode()) % len(view.legal)]
"""
    match = [nosy, BOTS["coin"], BOTS["simulates"], BOTS["echo"], nosy][:seats]
    others = [[BOTS[name]] * seats for name in ("first", "reader", "late error", "spins")]
    alone = quick(match, setting=setting, alone=True)
    among = quick(*others, match, *others[:1], setting=setting, alone=True)
    by_itself, in_company = play(sandbox, alone), play(sandbox, among)
    assert match_of(alone, by_itself, 0) == match_of(among, in_company, 4)
    assert by_itself.fuel == in_company.fuel[4 * seats : 5 * seats]
    assert all(by_itself.fuel)
    assert not by_itself.faults


def test_a_bot_is_told_of_no_program_but_those_it_plays(sandbox: Image) -> None:
    spy = """
import wit_world

def act(view):
    wit_world.host("source " + DIGEST)
    return "C"
"""
    secret = "def act(view): return 'C'  # secret"
    digest = quick([secret, secret]).programs[0][0]
    spy = spy.replace("DIGEST", repr(digest))
    batch = quick([spy, secret], [spy, BOTS["first"]], [secret, secret])
    for played in both(sandbox, replace(batch, alone=True)):
        assert {slot: fault.kind for slot, fault in played.faults.items()} == {2: "crash"}


def test_another_seed_is_another_match_and_so_is_another_repetition(sandbox: Image) -> None:
    pair = [BOTS["coin"], BOTS["module"]]
    setting = SETTINGS["repeated"]
    moves = [tuple(play(sandbox, quick(pair, seed=seed, setting=setting)).moves) for seed in (1, 2)]
    repeated = play(sandbox, quick(pair, pair, setting=setting)).moves
    assert moves[0] != moves[1]
    assert repeated[:2] == [*moves[0]]
    assert repeated[2:] != [*moves[0]]


def test_the_fuel_of_a_batch_is_shared_by_its_matches(sandbox: Image) -> None:
    many = play(sandbox, quick(*[[BOTS["first"], BOTS["coin"]]] * 50, setting=SETTINGS["repeated"]))
    alone = play(sandbox, quick([BOTS["first"], BOTS["coin"]], setting=SETTINGS["repeated"]))
    assert len({*many.fuel[::2]}) == 1
    assert many.fuel[0] < alone.fuel[0] / 5


def test_a_match_that_ran_out_of_fuel_is_charged_with_it(sandbox: Image) -> None:
    for name in ("spins", "spins at load"):
        for played in both(sandbox, quick([BOTS[name], BOTS["first"]])):
            assert QUICK.fuel < played.fuel[0] + 10_000 < 3 * QUICK.fuel


def test_limits_are_those_of_the_batch(sandbox: Image) -> None:
    pair = [BOTS["slow"], BOTS["holds more"]]
    setting = SETTINGS["repeated"]
    roomy = play(sandbox, quick(pair, setting=setting, limits=Limits(memory=200 << 20)))
    assert not roomy.faults
    tight = play(sandbox, quick(pair, setting=setting, limits=Limits(fuel=7_000_000)))
    assert {slot: fault.kind for slot, fault in tight.faults.items()} == {0: "fuel"}


# What is paid


def owed(
    setting: Setting, moves: Sequence[str], rounds: int, faults: Sequence[Fault]
) -> list[Fraction | None]:
    """What each seat is owed, slowly: round by round, in exact numbers."""
    game, discount = setting.game, Fraction(setting.repetition.discount)
    assert isinstance(game, MatrixGame)
    totals = [Fraction(0)] * game.seats
    guilty = {fault.seat for fault in faults}
    for r in range(rounds):
        if r < len(moves[0]):
            joint = tuple(ord(column[r]) - ord("0") for column in moves)
            paid = [Fraction(each) for each in game.payoff(joint)]
        else:
            paid = [Fraction(worst) for worst in game.worst]
        totals = [t + discount**r * p for t, p in zip(totals, paid, strict=True)]
    return [total if not guilty or seat in guilty else None for seat, total in enumerate(totals)]


@st.composite
def played_matches(draw: st.DrawFn) -> tuple[Setting, list[str], int, list[Fault]]:
    """A game, a match of it with or without faults, and its horizon."""
    seats = draw(st.integers(2, 3))
    moves = [draw(st.integers(1, 3)) for _ in range(seats)]
    numbers = st.one_of(st.integers(-9, 9).map(float), st.floats(-1e6, 1e6))
    table = {
        joint: tuple(draw(numbers) for _ in range(seats))
        for joint in itertools.product(*map(range, moves))
    }
    game = MatrixGame(
        name="drawn",
        moves=tuple(tuple(f"m{i}" for i in range(count)) for count in moves),
        payoff=table.__getitem__,
        worst=tuple(min(paid[seat] for paid in table.values()) for seat in range(seats)),
    )
    rounds = draw(st.integers(1, 12))
    discount = draw(st.one_of(st.just(1.0), st.floats(0, 1)))
    guilty = draw(st.sets(st.integers(0, seats - 1)))
    length = draw(st.integers(0, rounds - 1)) if guilty else rounds
    columns = ["".join(code(draw(st.integers(0, m - 1))) for _ in range(length)) for m in moves]
    faults = [Fault(seat, "error", length, "") for seat in sorted(guilty)]
    return Setting(game, Repetition(rounds=rounds, discount=discount)), columns, rounds, faults


@given(played_matches())
def test_every_seat_is_paid_what_it_is_owed(
    match: tuple[Setting, list[str], int, list[Fault]],
) -> None:
    paid, expected = payoffs(*match), owed(*match)
    for got, exact in zip(paid, expected, strict=True):
        if exact is None or got is None:
            assert got is exact
        else:
            assert math.isclose(got, exact, rel_tol=1e-12, abs_tol=1e-6)


@given(st.lists(st.sampled_from("01"), min_size=1, max_size=60), st.randoms())
def test_without_discount_the_order_of_rounds_does_not_matter(
    moves: list[str], random: Any
) -> None:
    game = MatrixGame("tenths", (("a", "b"), ("a",)), lambda j: (0.1 + j[0] / 3, 0.7), (0.1, 0.7))
    setting = Setting(game, Repetition(rounds=len(moves)))
    shuffled = random.sample(moves, len(moves))
    zeros = "0" * len(moves)
    assert payoffs(setting, ["".join(moves), zeros], len(moves), ()) == payoffs(
        setting, ["".join(shuffled), zeros], len(moves), ()
    )


@pytest.mark.parametrize(
    ("setting", "moves", "faults", "expected"),
    [
        ("once", ["0", "1"], [], (0.0, 5.0)),
        ("repeated", ["0" * 12, "0" * 12], [], (36.0, 36.0)),
        ("repeated", ["", ""], [0], (0.0, None)),
        ("repeated", ["0" * 4, "1" * 4], [1], (None, 20.0)),
        ("repeated", ["1" * 4, "1" * 4], [0, 1], (4.0, 4.0)),
        ("discounted", ["1", "0"], [0], (5.0, None)),
    ],
)
def test_who_is_at_fault_gets_the_worst_for_the_rest_and_nobody_else_gets_anything(
    setting: str, moves: list[str], faults: list[int], expected: tuple[float | None, ...]
) -> None:
    where = SETTINGS[setting]
    made = [Fault(seat, "error", len(moves[0]), "") for seat in faults]
    rounds = where.repetition.rounds
    assert rounds is not None
    assert payoffs(where, moves, rounds, made) == expected


def test_a_worst_payoff_below_nothing_is_paid_for_every_round_that_is_left(sandbox: Image) -> None:
    game = MatrixGame("loss", (("a", "b"),) * 2, lambda joint: (-1.0, -2.0), (-1.0, -2.0))
    setting = Setting(game, Repetition(rounds=4, discount=0.5))
    fault = Fault(1, "error", 1, "")
    assert payoffs(setting, ["0", "0"], 4, [fault]) == (None, -2.0 * (1 + 0.5 + 0.25 + 0.125))


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_what_was_played_settles_into_what_is_owed(sandbox: Image, setting: Setting) -> None:
    seats = setting.game.seats
    names = ["late error", "coin", "echo", "true", "class"]
    batch = quick(*lineups(names, seats), setting=setting)
    played = play(sandbox, batch)
    fixtures = [
        Fixture(tuple(batch.programs[n][0] for n in lineup), repetition)
        for lineup, repetition in batch.matches
    ]
    for outcome, horizon in zip(
        outcomes(setting, batch, fixtures, played), batch.horizons, strict=True
    ):
        assert outcome.rounds == horizon
        expected = owed(setting, outcome.moves, horizon, outcome.faults)
        assert [p is None for p in outcome.payoffs] == [e is None for e in expected]
        assert [p or 0 for p in outcome.payoffs] == pytest.approx([float(e or 0) for e in expected])
