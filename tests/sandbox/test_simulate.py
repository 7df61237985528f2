"""`simulate`: what it answers, who pays, and that nobody can tell it from the real thing."""

import time
from dataclasses import replace
from functools import partial

import anyio
import pytest

from tests.batches import batch_of
from tournament.engine.batch import Batch, Played
from tournament.engine.play import play
from tournament.engine.run import workers
from tournament.game import Repetition, Setting
from tournament.library import load_game, packaged_sources
from tournament.sandbox import runner
from tournament.sandbox.image import Image
from tournament.sandbox.instance import Image as Sandbox
from tournament.sandbox.limits import Limits

LIBRARY = packaged_sources()
ONE_SHOT = Setting(load_game("prisoners_dilemma"))
C = "def act(view):\n    return 'C'\n"
D = "def act(view):\n    return 'D'\n"
FULL = Limits()


def worked(image: Image, batch: Batch) -> Played:
    """What a worker makes of a batch: it has the stack that deep nests need."""

    async def ask() -> Played:
        async with workers(image, 1, batch.limits) as pool:
            known = replace(batch, library=LIBRARY)
            return await pool.call(known.encoded(), partial(Played.decoded, batch=known))

    return anyio.run(ask)


def one_shot(
    image: Image, *lineups: tuple[str, str], limits: Limits = FULL, alone: bool = False
) -> Played:
    """One-shot matches of pairs of bots, by name in the library or by source."""
    sources = [tuple(LIBRARY.get(name, name) for name in lineup) for lineup in lineups]
    return worked(image, batch_of(*sources, setting=ONE_SHOT, limits=limits, alone=alone))


def told(result: Played) -> list[str]:
    """What both seats of each match play, in letters; "?" for one at fault, "-" beside it."""
    letters = []
    for slot, codes in enumerate(result.moves):
        mark = "?" if slot in result.faults else "-"
        letters.append("CD"[int(codes)] if codes else mark)
    return [letters[n] + letters[n + 1] for n in range(0, len(letters), 2)]


def test_simulating_bots_play_as_the_literature_says(image: Image) -> None:
    expected = {
        ("mirror", "always_cooperate"): "CC",
        ("mirror", "always_defect"): "DD",
        ("mirror", "mirror"): "??",
        ("mirror", "justice"): "CC",
        ("smarter_mirror", "smarter_mirror"): "CC",
        ("justice", "always_cooperate"): "CC",
        ("justice", "prudent_bot"): "DD",
        ("probe_d", "probe_d"): "DD",
        ("contrarian_probe", "contrarian_probe"): "DD",
        ("contrarian_probe", "always_defect"): "CD",
        ("depth_mimic", "depth_mimic"): "CC",
        ("sim_detector", "mirror"): "DD",
    }
    found = told(one_shot(image, *expected))
    assert dict(zip(expected, found, strict=True)) == expected


def repeated(name: str, other: str, times: int) -> Batch:
    """One lineup as often as that, each time with other tapes."""
    lineup = (LIBRARY[name], LIBRARY[other])
    return batch_of(*[lineup] * times, setting=ONE_SHOT, limits=FULL)


def test_epsilon_grounded_fair_bots_cooperate_in_every_one_of_400_seeds(image: Image) -> None:
    name = "epsilon_grounded_fair_bot"
    found = told(worked(image, repeated(name, name, 400)))
    assert found == ["CC"] * 400


def test_against_a_defector_epsilon_grounded_fair_bot_cooperates_as_rarely_as_it_says(
    image: Image,
) -> None:
    found = told(worked(image, repeated("epsilon_grounded_fair_bot", "always_defect", 1_000)))
    assert 0.035 <= found.count("CD") / 1_000 <= 0.065
    assert found.count("CD") + found.count("DD") == 1_000


@pytest.mark.parametrize(
    "name", ["correlated_tit_for_tat", "correlated_grim", "correlated_win_stay"]
)
def test_correlated_bots_cooperate_with_themselves_in_200_of_200_seeds(
    image: Image, name: str
) -> None:
    assert told(worked(image, repeated(name, name, 200))) == ["CC"] * 200


COPIES = "def act(view):\n    return view.simulate()\n"

PLACES = 61
MANY_MOVES = Setting(
    load_game("public_goods", {"seats": "2", "endowment": str(PLACES - 1)}), Repetition(rounds=3)
)
"""A game with so many moves that a probe's tells what it has seen."""
SIX_TIMES = """
def act(view):
    for name in range(6):
        move = view.simulate(shared=name)
    return move
"""
"""Copies the last of six simulations of one move, for what a program may leave behind."""

PROBES = {
    "the fuel that is left": """
FAKE = "def act(view):\\n    for _ in range({}): pass\\n    return 0\\n"

def seen(view):
    tried = [(n, fuel) for n in (10, 60_000) for fuel in (2_000_000, 3_000_000, 6_000_000)]
    return [view.simulate(FAKE.format(n), view.me, fuel=fuel) for n, fuel in tried]
""",
    "the stack": """
import sys

def seen(view):
    frame, frames = sys._getframe(), []
    while frame:
        frames.append((frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return frames
""",
    "the stack at load": """
import sys

def frames(frame):
    return [frame.f_code.co_name, *frames(frame.f_back)] if frame else []

LOADED = frames(sys._getframe())

def seen(view):
    return LOADED
""",
    "identities": """
def seen(view):
    parts = [view, view.me, view.them, view.mine, view.game, object(), seen]
    return [id(part) for part in parts], view.me is view.them, view.me == view.them
""",
    "the clock": """
import time

def seen(view):
    begun = time.perf_counter(), time.time(), time.process_time()
    sum(range(10_000))
    return begun, time.perf_counter(), time.monotonic_ns()
""",
    "the text of an exception": """
import traceback

def seen(view):
    try:
        view.simulate(history=0)
    except ValueError as error:
        return traceback.format_exc(), repr(error), error.__traceback__.tb_lineno
""",
    "the recursion limit": """
import sys

def deep(n=0):
    try:
        return deep(n + 1)
    except RecursionError:
        return n

def seen(view):
    return sys.getrecursionlimit(), deep()
""",
    "the places on the tapes": """
def seen(view):
    before = view.shared.position
    drawn = view.shared.random()
    return before, drawn, view.shared.position, view.shared.name, view.rng.getstate()[1][-1]
""",
    "the history's identity": """
kept = []

def seen(view):
    kept.append(view.mine)
    same = [each is view.mine for each in kept], view.history is view.history
    return same, view.history, view.theirs, type(view.mine), len(view.mine)
""",
    "the source of the caller": """
def seen(view):
    return view.me.source, view.them.source, view.them.tree, view.them.digest, view.seat
""",
    "collections of garbage": """
import gc

class Garbage:
    collected = 0

    def __del__(self):
        Garbage.collected += 1

def seen(view):
    for n in range(2500):
        one = Garbage()
        one.itself = one
        if Garbage.collected:
            break
    return n, gc.get_stats(), gc.isenabled(), gc.get_threshold()
""",
    "what imports leave behind": """
import sys

def seen(view):
    before = len(sys.modules)
    import _bisect
    import keyword
    keyword.seen = getattr(keyword, "seen", 0) + 1
    return before, keyword.seen, "keyword" in sys.modules
""",
    "how often it is called": """
CALLS = []

def seen(view):
    CALLS.append(len(view.mine))
    seen.calls = getattr(seen, "calls", 0) + 1
    return CALLS, seen.calls
""",
    "what was printed": """
import sys

def seen(view):
    print("x" * 100)
    return sys.stdout.write("y"), repr(type(sys.stdout))
""",
    "the harness": """
import sys

def seen(view):
    table = sys.modules["app"].bot
    return len(table.matches), view._number, len(table.texts)
""",
    "addresses": """
def seen(view):
    return repr(seen), object.__repr__(view), repr(object())
""",
}


def probe(before: str) -> str:
    """A bot whose move tells what it has seen."""
    return f"""
import zlib
{before}
def act(view):
    return zlib.crc32(repr(seen(view)).encode()) % {PLACES}
"""


@pytest.mark.parametrize("before", PROBES.values(), ids=PROBES)
@pytest.mark.parametrize("copies", [COPIES, SIX_TIMES], ids=["once", "six times"])
def test_no_probe_tells_a_simulated_move_from_a_real_one(
    image: Image, before: str, copies: str
) -> None:
    """The probe's move says what it has seen: whoever copies its simulated move plays its real one."""
    if copies is SIX_TIMES and "shared" in before:
        pytest.skip("it is shown another coin each time")
    batch = batch_of((probe(before), copies), setting=MANY_MOVES, limits=FULL, alone=True)
    result = worked(image, batch)
    assert not result.faults
    assert result.moves[0] == result.moves[1]


def test_a_probe_says_what_it_sees(image: Image) -> None:
    """Or else the test above would be met by one that sees nothing."""
    seeing = "def seen(view):\n    return view.them.source\n"
    lineups = [(probe(seeing), f"{COPIES}# {n}") for n in range(8)]
    result = worked(image, batch_of(*lineups, setting=MANY_MOVES, limits=FULL))
    assert len({*result.moves[::2]}) > 4


def test_an_exact_repeat_in_progress_is_a_timeout_at_once(image: Image) -> None:
    """Two that would wait for each other for ever end soon, whatever the fuel."""
    waits = """
def act(view):
    return "C" if view.simulate() is view.TIMEOUT else "D"
"""
    for fuel in (50_000_000, 400_000_000, 3_000_000_000):
        result = one_shot(image, (waits, waits), limits=Limits(fuel=fuel))
        assert told(result) == ["DD"]
        assert max(result.fuel) < 20_000_000


SLOW = """
SLOW = "def act(view):\\n    for _ in range(200_000): pass\\n    return 'C'\\n"
"""
"""A program that takes some twenty million fuel, as a constant of a bot's."""


def test_what_was_simulated_in_a_move_is_known_for_the_rest_of_it(image: Image) -> None:
    twenty = f"{SLOW}def act(view):\n    return [view.simulate(SLOW) for _ in range(20)][-1]\n"
    other_each_time = twenty.replace("simulate(SLOW)", "simulate(SLOW + f'# {_}')")
    result = one_shot(image, (twenty, D), (other_each_time, D), limits=Limits(fuel=150_000_000))
    assert {slot: fault.kind for slot, fault in result.faults.items()} == {2: "fuel"}
    assert told(result)[0] == "CD"


def test_a_timeout_is_not_kept_for_whoever_pays_more(image: Image) -> None:
    asker = f"""{SLOW}
def act(view):
    first, second = view.simulate(SLOW, fuel=5_000_000), view.simulate(SLOW, fuel=100_000_000)
    return "C" if first is view.TIMEOUT and second == "C" else "D"
"""
    assert told(one_shot(image, (asker, C))) == ["CC"]


def test_failures_equal_no_move_and_say_what_happened(image: Image) -> None:
    asker = """
BROKEN = "def act(view)\\n"
RAISES = "def act(view):\\n    return 1 / 0\\n"
CHEATS = "def act(view):\\n    return 'X'\\n"
STALLS = "def act(view):\\n    while True: pass\\n"
def act(view):
    found = [view.simulate(each, fuel=30_000_000) for each in (BROKEN, RAISES, CHEATS, STALLS)]
    right = found == [view.ERROR, view.ERROR, view.ILLEGAL, view.TIMEOUT]
    return "C" if right and not {*found} & {"C", "D"} else "D"
"""
    assert told(one_shot(image, (asker, C))) == ["CC"]


def test_a_program_whose_guest_answers_nothing_is_an_error(image: Image) -> None:
    asker = """
MUTE = (
    "import sys\\nsys.modules['table'].Table.play = lambda table, lines: ''\\n"
    "def act(view):\\n    return 'C'\\n"
)
def act(view):
    return "C" if view.simulate(MUTE) is view.ERROR else "D"
"""
    assert told(one_shot(image, (asker, D))) == ["CD"]


def test_staller_and_crasher_end_their_own_matches_only(image: Image) -> None:
    lineups = [("staller", "tit_for_tat"), ("mirror", "crasher"), ("justice", "always_cooperate")]
    result = one_shot(image, *lineups)
    kinds = {slot: fault.kind for slot, fault in result.faults.items()}
    assert kinds == {0: "fuel", 2: "illegal", 3: "error"}
    assert told(result)[2] == "CC"


def test_whoever_simulates_a_staller_without_a_limit_stalls_itself(image: Image) -> None:
    patient = """
STALLS = "def act(view):\\n    while True: pass\\n"
def act(view):
    return "C" if view.simulate(STALLS, fuel=50_000_000) is view.TIMEOUT else "D"
"""
    result = one_shot(image, (patient, C), ("mirror", "staller"))
    assert {slot: fault.kind for slot, fault in result.faults.items()} == {2: "fuel", 3: "fuel"}
    assert told(result)[0] == "CC"


def test_the_caller_pays_and_cannot_catch_its_own_end(image: Image) -> None:
    spender = """
STALLS = "def act(view):\\n    while True: pass\\n"
def act(view):
    while True:
        try:
            view.simulate(STALLS)
        except BaseException:
            pass
"""
    result = one_shot(image, (spender, C), (C, D), limits=Limits(fuel=100_000_000))
    assert {slot: fault.kind for slot, fault in result.faults.items()} == {0: "fuel"}
    assert told(result)[1] == "CD"


def test_a_described_history_is_played_to_the_program(image: Image) -> None:
    asker = """
def act(view):
    punished = view.simulate(history=[("D", "C")], seat=1)
    forgiven = view.simulate(history=[("C", "C")], seat=1)
    return "C" if (punished, forgiven) == ("D", "C") else "D"
"""
    assert told(one_shot(image, (asker, "tit_for_tat"), (asker, "gradual"))) == ["CC", "CC"]


def test_further_rounds_can_be_played_out(image: Image) -> None:
    asker = """
def act(view):
    rest = view.simulate(view.them, "def act(view):\\n    return 'D'\\n", rounds=3, history=[])
    return "C" if rest == [("D", "C"), ("D", "D"), ("D", "D")] else "D"
"""
    assert told(one_shot(image, (asker, "tit_for_tat"))) == ["CC"]


def test_a_private_tape_is_forked_and_the_real_one_stays_hidden(image: Image) -> None:
    coin = "def act(view):\n    return view.rng.choice('CD')\n"
    lineups = [(COPIES, coin)] * 300
    batch = batch_of(*lineups, setting=ONE_SHOT, limits=FULL)
    found = told(worked(image, batch))
    same = sum(pair in ("CC", "DD") for pair in found)
    assert 110 <= same <= 190


def test_samples_draw_differently_and_the_same_call_does_not(image: Image) -> None:
    asker = """
COIN = "def act(view):\\n    return view.rng.choice('CD')\\n"
def act(view):
    first = [view.simulate(COIN, sample=n) for n in range(20)]
    again = [view.simulate(COIN, sample=n) for n in range(20)]
    return "C" if first == again and len({*first}) == 2 else "D"
"""
    assert told(one_shot(image, (asker, C))) == ["CC"]


def test_games_with_more_seats_can_be_simulated(image: Image) -> None:
    asker = """
def act(view):
    nxt = view.simulate(view.others[0], [view.others[1], view.me])
    last = view.simulate(view.others[1], [view.me, view.others[0]], seat=(view.seat + 2) % 3)
    return 10 if (nxt, last) == (3, 4) else 0
"""
    three = "def act(view):\n    return 3\n"
    four = "def act(view):\n    return 4\n"
    setting = Setting(load_game("public_goods"))
    result = worked(image, batch_of((asker, three, four), setting=setting, limits=FULL))
    assert not result.faults
    assert result.moves[0] == ":"


HOSTILE = {
    "a program of 5 MB": "view.simulate('x = 1\\n' * 800_000)",
    "itself with other constants": (
        "[view.simulate(view.me.source + f'\\n# {n}') for n in range(1_000)]"
    ),
    "a thousand deep": "view.simulate(view.me, view.me.source + '#')",
    "nonsense": "view.simulate(7, [], history=3)",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_simulations_are_bounded_and_repeatable(image: Image, name: str) -> None:
    hostile = f"def act(view):\n    {HOSTILE[name]}\n    return 'C'\n"
    limits = Limits(fuel=150_000_000)
    first = one_shot(image, (hostile, D), (C, D), limits=limits)
    again = one_shot(image, (hostile, D), (C, D), limits=limits)
    assert first == again
    assert told(first)[1] == "CD"


SIMULATING = (
    "mirror",
    "justice",
    "smarter_mirror",
    "correlated_tit_for_tat",
    "epsilon_grounded_fair_bot",
    "fair_bot",
    "prudent_bot",
    "tit_for_tat",
)


def test_bots_that_simulate_and_prove_play_the_same_alone(image: Image) -> None:
    lineups = [(LIBRARY[x], LIBRARY[y]) for x in SIMULATING for y in SIMULATING]
    batch = batch_of(*lineups, setting=ONE_SHOT, limits=FULL, checks=range(2 * len(lineups)))
    result = worked(image, batch)
    assert not result.leaky
    assert len(result.checked) == 2 * len(lineups)


def test_in_self_play_the_other_seat_is_simulated(image: Image) -> None:
    """Each seat goes where the first would, and asks where the other seat would go."""
    itself = """
def act(view):
    if view.them.source != view.me.source:
        return view.legal[view.seat]
    moves = [view.simulate(against=OTHER), view.simulate(view.them, OTHER), view.simulate(view.me, OTHER)]
    there, here = view.legal[1 - view.seat], view.legal[view.seat]
    return "opera" if moves == [there, there, here] else "football"

OTHER = "def act(view):\\n    return view.them.nothing"
"""
    setting = Setting(load_game("battle_of_the_sexes"))
    result = worked(image, batch_of((itself, itself), setting=setting, limits=FULL))
    assert result.moves == ["0", "0"]


def test_a_program_that_meets_itself_cannot_tell_by_identity(image: Image) -> None:
    tells = "def act(view):\n    return 'D' if view.me is view.them else 'C'\n"
    assert told(one_shot(image, (tells, tells))) == ["CC"]


def test_a_program_of_a_larger_table_is_simulated_in_its_own_seat(image: Image) -> None:
    asker = """
def act(view):
    return view.simulate(view.others[1])
"""
    seated = "def act(view):\n    return view.seat\n"
    setting = Setting(load_game("public_goods"))
    result = worked(image, batch_of((asker, seated, seated), setting=setting, limits=FULL))
    assert result.moves == ["2", "1", "2"]


LEAVING = {
    "a mark on a module": "import math\nmath.calls = getattr(math, 'calls', 0) + 1\nCALLS = math.calls",
    "a module": "import sys\nCALLS = sys.modules.setdefault('calls', 0) + 1\nsys.modules['calls'] = CALLS",
    "a cache": "import functools\nCALLS = 1 + len(functools.singledispatch(len).registry)\nCALLS -= 1",
    "a type": "import enum\nCALLS = len(enum.Enum.__subclasses__())\nclass Mark(enum.Enum): X = 1",
}


@pytest.mark.parametrize("before", LEAVING.values(), ids=LEAVING)
@pytest.mark.parametrize("alone", [False, True])
def test_a_program_finds_nothing_that_it_left_behind_when_it_was_simulated(
    image: Image, before: str, alone: bool
) -> None:
    """It plays what it finds, and is simulated three times within a move, and in other matches too."""
    finds = f"{before}\n\ndef act(view):\n    return view.legal[min(CALLS, 2) % 2]\n"
    asks = """
def act(view):
    found = {view.simulate(shared=n) for n in range(3)}
    return found.pop() if len(found) == 1 else "?"
"""
    lineups = [(asks, finds), (f"{asks}# another", finds)]
    result = one_shot(image, *lineups, alone=alone)
    assert not result.faults
    assert len({*result.moves[:3:2], result.moves[1]}) == 1


NESTING = [
    ("epsilon_grounded_fair_bot", "epsilon_grounded_fair_bot"),
    ("correlated_grim", "correlated_win_stay"),
    ("correlated_tit_for_tat", "always_defect"),
    ("lookahead", "gradual"),
    ("depth_mimic", "smarter_mirror"),
    ("mirror", "justice"),
    ("simulation_hating_tit_for_tat", "lookahead"),
]
DEAR = """
def act(view):
    for n in range(20_000 * (len(view.mine) % 2)):
        pass
    return view.simulate(view.them, view.me, history=[], shared=view.seat)
"""
"""Now a short call and now a long one, so that used instances must be given up in the middle of a move."""


def test_whether_instances_are_used_again_is_seen_in_no_move_and_no_fuel(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = """
def act(view):
    return max(view.simulate(DEAR, history=[("C", "C")] * n, shared=str(n % 3)) for n in range(8))

DEAR = '''DEAR_TEXT'''
"""
    lineups = [(LIBRARY[x], LIBRARY[y]) for x, y in NESTING]
    lineups.append((asks.replace("DEAR_TEXT", DEAR), LIBRARY["tit_for_tat"]))
    repetition = Repetition(rounds=3)
    setting = Setting(load_game("prisoners_dilemma"), repetition)
    batch = replace(batch_of(*lineups, setting=setting, alone=True), library=LIBRARY)
    used = play(sandbox, batch)
    monkeypatch.setattr(runner.Runner, "_used", lambda runner, digest: None)
    fresh = play(sandbox, batch)
    assert used == fresh


ENDLESS = {
    "fresh instances": 'view.simulate(f"import sys\\ndef act(view): return 0\\n#{n}")',
    "plain programs": 'view.simulate(f"def act(view): return view.legal[0]\\n#{n}")',
    "long programs": 'view.simulate("x = 1\\n" * 20_000 + f"#{n}")',
    "long histories": 'view.simulate(history=[("C", "C")] * (5_000 + n))',
    "further rounds": "view.simulate(rounds=100_000, sample=n)",
    "proofs": 'view.proves(f"them(me) == C or them(me) == {n}", level=40)',
    "nested proofs": 'view.proves("proves(" * 50 + f"them(me) == {n}" + ")" * 50)',
    "bad statements": 'view.proves("them(me) == C and " * 50 + f"them(me) == {n}")',
}


@pytest.mark.parametrize("asked", ENDLESS.values(), ids=ENDLESS)
def test_a_move_without_end_takes_no_longer_than_its_fuel_should(
    sandbox: Sandbox, asked: str
) -> None:
    endless = f"""
def act(view):
    n = 0
    while True:
        n += 1
        try:
            {asked}
        except ValueError:
            pass
"""
    lineup = (endless, LIBRARY["fair_bot"] if "proves" in asked else C)
    batch = replace(batch_of(lineup, setting=ONE_SHOT, limits=FULL, alone=True), library=LIBRARY)
    began = time.process_time()
    result = play(sandbox, batch)
    assert time.process_time() - began < 4
    assert result.faults[0].kind == "fuel"


def test_a_nest_that_is_too_deep_is_seen_by_the_real_move_only(image: Image) -> None:
    """What is simulated ends with its callers, or else it could tell how deep it is."""
    dives = """
def act(view):
    view.shared.random()
    move = view.simulate(view.me, shared=view.shared)
    return "C" if move is view.TIMEOUT else "D"
"""
    result = one_shot(image, (dives, C), limits=Limits(fuel=4_000_000_000))
    assert not result.faults
    assert told(result) == ["CC"]
