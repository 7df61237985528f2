"""Programs that leak between their matches are found out, and their matches are played as if they did not."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from tests.batches import batch_of, matches_of, played_and_audited
from tournament.engine.audit import same_alone
from tournament.engine.batch import Batch, Played
from tournament.engine.play import play
from tournament.engine.run import Contest
from tournament.engine.schedule import players_to_check
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.match import Fault, Fixture
from tournament.program import Program
from tournament.sandbox.instance import Image
from tournament.sandbox.limits import Limits

PRISONERS = load_game("prisoners_dilemma")
SIX = Setting(PRISONERS, Repetition(rounds=6))
NOISY = Setting(PRISONERS, Repetition(rounds=None, continuation=0.85, noise=0.2))
THREE = Setting(load_game("public_goods"), Repetition(rounds=4))
quick = partial(batch_of, setting=SIX, limits=Limits(100_000_000, 40 << 20))

COIN = "def act(view): return view.rng.choice(view.legal)"
ECHO = "def act(view): return view.theirs[-1] if view.theirs else 'C'"
LATE_ERROR = "def act(view): return view.legal[0] if len(view.mine) < 3 else 1 / 0"
HONEST = (COIN, ECHO, LATE_ERROR)

COUNTS = {
    "a module of its own": "import sys, types\ncount = sys.modules.setdefault('mine', types.ModuleType('mine'))",
    "an attribute of a module": "import math as count",
    "an attribute of a class": "from collections import Counter as count",
    "an attribute of a function": "from json import dumps as count",
    "the builtins": "import builtins as count",
    "an audit hook": "import sys\nsys.audit_count = count = getattr(sys, 'audit_count', type('Count', (), {}))",
    "a value in the shared game": "count = lambda view: view.game",
}
USES = {
    "a thread's decimal context": """
import decimal

def act(view):
    decimal.getcontext().prec += 1
    return "CD"[decimal.getcontext().prec > 36]
""",
    "the module random itself": """
import sys

def act(view):
    return "CD"[sys.modules["random"].random() < 0.5]
""",
    "what is left in memory": """
kept = bytearray(2 << 20)

def act(view):
    held = []
    try:
        while True: held.append(bytearray(1 << 20))
    except MemoryError:
        room = len(held)
        held.clear()
    return "CD"[room % 4 // 2]
""",
    "classes of other matches": """
class Mine: pass

def act(view):
    return "CD"[sum(kind.__name__ == "Mine" for kind in object.__subclasses__()) > 1]
""",
    "how many matches there are": """
import sys

def act(view):
    return "CD"[len(sys.modules["app"].bot.matches) > 1]
""",
    "which match it is": "def act(view): return 'CD'[view._number > 0]",
    "the views of other matches": """
import sys

def act(view):
    return "CD"[any(match.view.mine for match in sys.modules["app"].bot.matches[:1]) and view._number > 0]
""",
}  # fmt: skip
COUNTER = """
{before}

def act(view):
    where = count(view) if type(count).__name__ == "function" and count.__name__ == "<lambda>" else count
    where.calls = getattr(where, "calls", 0) + 1
    return view.legal[where.calls > 6]
"""
LEAKY = {name: COUNTER.format(before=before) for name, before in COUNTS.items()} | USES


def strictly(sandbox: Image, batch: Batch) -> Played:
    return play(sandbox, replace(batch, alone=True, checks=()))


def number_of(batch: Batch, source: str) -> int:
    """The number of a program in its batch."""
    return [text for _, text in batch.programs].index(source)


# Leaks


@pytest.mark.parametrize("leaky", LEAKY.values(), ids=LEAKY)
def test_a_program_that_leaks_is_reported_and_plays_as_if_it_did_not(
    sandbox: Image, leaky: str
) -> None:
    lineups = [
        [leaky, COIN],
        [ECHO, leaky],
        [COIN, ECHO],
        [leaky, leaky],
        [LATE_ERROR, leaky],
        [leaky, COIN],
    ]
    batch = quick(*lineups, checks=[10])
    audited = played_and_audited(sandbox, batch)
    assert matches_of(batch, play(sandbox, batch)) != matches_of(batch, strictly(sandbox, batch))
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))
    number = number_of(batch, leaky)
    assert audited.leaky == {number}
    assert audited.checked >= {*batch.players[number]}


@pytest.mark.parametrize("setting", [NOISY, THREE], ids=["noisy", "of three seats"])
def test_a_leak_is_mended_in_every_kind_of_match(sandbox: Image, setting: Setting) -> None:
    seats = setting.game.seats
    leaky = LEAKY["an attribute of a module"]
    lineups = [[leaky, COIN, LATE_ERROR][:seats], [COIN, leaky, COIN][:seats], [COIN] * seats]
    batch = quick(*lineups, *lineups, setting=setting, checks=[0, 3 * seats])
    audited = played_and_audited(sandbox, batch)
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))
    assert audited.leaky == {number_of(batch, leaky)}
    horizons = [len(moves) for moves in audited.moves[::seats]]
    faulted = {slot // seats for slot in audited.faults}
    assert all(
        n == h or m in faulted
        for m, (n, h) in enumerate(zip(horizons, batch.horizons, strict=True))
    )


def test_a_leak_may_be_of_faults_alone(sandbox: Image) -> None:
    leaky = """
import math

def act(view):
    math.calls = getattr(math, "calls", 0) + 1
    return 1 / 0 if math.calls > 6 else "C"
"""
    batch = quick([leaky, COIN], [COIN, leaky], checks=[0, 3])
    assert play(sandbox, batch).faults
    audited = played_and_audited(sandbox, batch)
    assert not audited.faults
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))
    assert audited.leaky == {number_of(batch, leaky)}


def test_a_leak_may_hide_a_fault(sandbox: Image) -> None:
    leaky = """
import math

def act(view):
    math.calls = getattr(math, "calls", 0) + 1
    return "C" if math.calls > 1 else 1 / 0
"""
    batch = quick([leaky, COIN], [leaky, ECHO], [COIN, leaky], checks=[5])
    assert len(play(sandbox, batch).faults) == 1
    audited = played_and_audited(sandbox, batch)
    assert {slot: fault.kind for slot, fault in audited.faults.items()} == dict.fromkeys(
        (0, 2, 5), "error"
    )
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))


def test_a_program_that_answers_otherwise_when_it_is_split_is_suspected_without_a_check(
    sandbox: Image,
) -> None:
    leaky = """
import math

def act(view):
    math.calls = getattr(math, "calls", 0) + 1
    if len(view.mine) == 3:
        for _ in range(60_000): pass
    return "CD"[math.calls % 2]
"""
    batch = quick(*[[leaky, COIN]] * 9, checks=[])
    audited = played_and_audited(sandbox, batch)
    assert audited.leaky == {number_of(batch, leaky)}
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))


def test_two_leaky_programs_against_each_other(sandbox: Image) -> None:
    one, other = LEAKY["an attribute of a module"], LEAKY["how many matches there are"]
    batch = quick(
        [one, other], [other, one], [one, one], [other, other], [COIN, other], checks=[0, 2]
    )
    audited = played_and_audited(sandbox, batch)
    assert audited.leaky == {number_of(batch, one), number_of(batch, other)}
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))


# No leaks


def test_honest_programs_pass_every_check_and_nothing_is_changed(sandbox: Image) -> None:
    lineups = [[one, other] for one in HONEST for other in HONEST]
    batch = quick(*lineups, checks=range(18))
    played, audited = play(sandbox, batch), played_and_audited(sandbox, batch)
    assert audited.leaky == set()
    assert audited.checked == {*range(18)}
    assert replace(audited, checked=set()) == played


def test_only_what_is_to_be_checked_is_checked(sandbox: Image) -> None:
    batch = quick([COIN, ECHO], [ECHO, COIN], checks=[1])
    assert played_and_audited(sandbox, batch).checked == {1}
    assert played_and_audited(sandbox, quick([COIN, ECHO])).checked == set()


def test_strict_play_is_checked_by_itself(sandbox: Image) -> None:
    leaky = LEAKY["how many matches there are"]
    audited = played_and_audited(sandbox, quick([leaky, COIN], [COIN, leaky], alone=True))
    assert audited.checked == {0, 1, 2, 3}
    assert audited.leaky == set()


def test_playing_strictly_by_checking_everything_is_strict_play(sandbox: Image) -> None:
    sources = [COIN, ECHO, LATE_ERROR, *list(LEAKY.values())[:3]]
    lineups = [[one, other] for one in sources for other in sources]
    batch = quick(*lineups, checks=range(2 * len(lineups)))
    audited = played_and_audited(sandbox, batch)
    assert matches_of(batch, audited) == matches_of(batch, strictly(sandbox, batch))
    assert audited.checked == {*range(2 * len(lineups))}


@pytest.mark.parametrize("leaky", list(LEAKY.values())[:2])
def test_the_sample_of_a_contest_finds_a_program_that_leaks(sandbox: Image, leaky: str) -> None:
    programs = {p.digest: p for p in (Program("a", leaky), Program("b", COIN), Program("c", ECHO))}
    fixtures = [Fixture((one, other), 0) for one in programs for other in programs]
    contest = Contest(SIX, 1, programs)
    [sample] = players_to_check([fixtures], 1)
    audited = played_and_audited(sandbox, contest.batch(fixtures, sample))
    digests = [contest.batch(fixtures, sample).programs[n][0] for n in audited.leaky]
    assert digests == [next(iter(programs))]


def test_in_strict_play_no_repetition_stands_for_another_on_a_bot_s_word() -> None:
    sly = Program("sly", "def act(view): return 'CD'[int(view._private[:8], 16) % 2]")
    fixture = Fixture((sly.digest, sly.digest), 0)
    contest = Contest(SIX, 1, {sly.digest: sly})
    assert not contest.may_draw(fixture)
    assert replace(contest, strict=True).may_draw(fixture)


# The check itself


FAULT = Fault(0, "error", 0, "")
Tamper = Callable[[Played], None]


def changed(slot: int, moves: str) -> Tamper:
    def tamper(played: Played) -> None:
        played.moves[slot] = moves

    return tamper


def faulted(slot: int, kind: str) -> Tamper:
    def tamper(played: Played) -> None:
        played.faults[slot] = replace(FAULT, kind=kind)

    return tamper


def forgiven(played: Played) -> None:
    """Forget the fault in the second match, and let it go on."""
    del played.faults[2]
    played.moves[2:4] = ["000000", "000000"]


@pytest.mark.parametrize(
    ("tamper", "slot"),
    [
        (changed(0, "000001"), 0),
        (changed(0, "100000"), 0),
        (faulted(0, "error"), 0),
        (faulted(2, "fuel"), 2),
        (forgiven, 2),
    ],
)
def test_a_record_that_differs_from_what_a_seat_does_alone_is_found(
    sandbox: Image, tamper: Tamper, slot: int
) -> None:
    batch = quick(["def act(view): return 'C'", ECHO], [LATE_ERROR, ECHO], ["1 / 0", ECHO])
    played = play(sandbox, batch)
    assert all(same_alone(sandbox, batch, played, slot) for slot in range(6))
    tamper(played)
    assert not same_alone(sandbox, batch, played, slot)


def test_a_seat_is_given_the_moves_that_were_seen_and_compared_before_noise(sandbox: Image) -> None:
    batch = quick([ECHO, COIN], [COIN, ECHO], setting=NOISY)
    played = play(sandbox, batch)
    assert played.intended != played.moves
    assert all(same_alone(sandbox, batch, played, slot) for slot in range(4))


def test_a_seat_that_needs_the_fuel_of_every_call_is_checked_call_by_call(sandbox: Image) -> None:
    slow = "def act(view):\n    for _ in range(150_000): pass\n    return view.rng.choice('CD')"
    batch = quick([slow, slow], checks=[0, 1])
    audited = played_and_audited(sandbox, batch)
    assert audited.checked == {0, 1}
    assert not audited.faults
    assert not audited.leaky
