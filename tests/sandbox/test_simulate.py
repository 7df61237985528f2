"""`simulate`: what it answers, who pays, and that nobody can tell it from the real thing."""

from dataclasses import replace
from functools import partial

import anyio
import pytest

from tests.batches import batch_of
from tournament.engine.batch import Batch, Played
from tournament.engine.run import workers
from tournament.game import Repetition, Setting
from tournament.library import load_game, packaged_sources
from tournament.sandbox.image import Image
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


@pytest.mark.parametrize("name", ["correlated_grim", "correlated_win_stay"])
def test_correlated_bots_cooperate_with_themselves_in_200_of_200_seeds(
    image: Image, name: str
) -> None:
    assert told(worked(image, repeated(name, name, 200))) == ["CC"] * 200


COPIES = "def act(view):\n    return view.simulate()\n"

PROBES = {
    "fuel": """
try:
    import resource
    SEEN = "D"
except ImportError:
    SEEN = "C"
def act(view):
    return SEEN
""",
    "stack depth": """
import sys
def act(view):
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return "CD"[depth % 2]
""",
    "names of callers": """
import sys
def act(view):
    frame, names = sys._getframe(), ""
    while frame is not None:
        names, frame = names + frame.f_code.co_name, frame.f_back
    return "CD"[len(names) % 2]
""",
    "identities": """
def act(view):
    return "CD"[(id(view) // 16 + id(view.mine) // 16 + id(act) // 16) % 2]
""",
    "the clock": """
import time
def act(view):
    return "CD"[int(time.time() * 1e6 + time.perf_counter_ns()) % 2]
""",
    "the text of an exception": """
def act(view):
    try:
        view.nothing
    except AttributeError as error:
        return "CD"[len(str(error)) % 2]
""",
    "the recursion limit": """
def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        return n
def act(view):
    return "CD"[deep(0) % 2]
""",
    "the history's identity": """
seen = []
def act(view):
    seen.append(view.mine)
    return "C" if all(each is view.mine for each in seen) else "D"
""",
    "how often it is called": """
calls = 0
def act(view):
    global calls
    calls += 1
    return "C" if calls == len(view.mine) + 1 else "D"
""",
    "the source of the caller": """
def act(view):
    return "CD"[(len(view.me.source) + len(view.them.source) + view.seat) % 2]
""",
    "what imports leave behind": """
import sys
def act(view):
    return "CD"[len(sys.modules) % 2]
""",
    "the global tape": """
import random
STATE = len(str(random.Random(7).random()))
def act(view):
    return "CD"[(STATE + len(view.history)) % 2]
""",
}


@pytest.mark.parametrize("probe", PROBES)
def test_no_probe_tells_a_simulated_move_from_a_real_one(image: Image, probe: str) -> None:
    """The probe's move says what it observed: whoever copies its simulated move plays its real one."""
    setting = Setting(load_game("prisoners_dilemma"), Repetition(rounds=4))
    batch = batch_of((COPIES, PROBES[probe]), setting=setting, limits=FULL, alone=True)
    result = worked(image, batch)
    assert not result.faults
    assert result.moves[0] == result.moves[1]


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
