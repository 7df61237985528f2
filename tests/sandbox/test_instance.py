"""One program in one instance: what its calls cost, and the world that a bot finds itself in."""

import ast
import re
from typing import Any

import pytest

from tests.batches import LITTLE, batch_of, fault_of, matches_of, shown_value
from tournament.engine.batch import game_facts
from tournament.engine.play import play
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.sandbox.instance import Ended, Image, Instance
from tournament.sandbox.limits import Limits

GAME = load_game("prisoners_dilemma")
LONG = Setting(GAME, Repetition(rounds=40))
COOPERATOR = "def act(view): return 'C'"
BUSY = "def act(view):\n    for _ in range(100_000): pass\n    return 'C'"


def instance(sandbox: Image, source: str, limits: Limits = LITTLE) -> Instance:
    """An instance with a match of the program against itself."""
    setup: dict[str, Any] = {
        "game": game_facts(LONG),
        "matches": [[0, ["me", "them"], "private", ["shared", 0]]],
    }
    return sandbox.instance(source, setup, limits)


def deaf(caller: Instance, request: str) -> str:
    return ""


# Fuel and memory


@pytest.mark.parametrize(
    "source",
    [
        COOPERATOR,
        "import random\ndef act(view): return random.choice('CD')",
        "def act(view): return max(set('CCD'), key='CCD'.count)",
        "def act(view): return 'CD'[len(str(hash(str(view.history)))) % 2]",
        "def act(view): return 'CD'[len([*map(object, ())]) + len(view.mine) % 2]",
    ],
)
def test_every_instance_burns_exactly_the_same_call_by_call(sandbox: Image, source: str) -> None:
    def spent() -> list[int]:
        one = instance(sandbox, source)
        costs = [one.spent]
        for line in ["", "00", "01", "10", "11"] * 8:
            one.play(line, deaf)
            costs.append(one.spent)
        assert sum(costs) == one.fuel_used
        return costs

    assert spent() == spent() == spent()


def test_a_call_has_its_own_fuel_and_what_one_leaves_is_not_for_the_next(sandbox: Image) -> None:
    one = instance(sandbox, BUSY)
    for _ in range(9):
        one.play("", deaf)
        assert LITTLE.fuel // 4 < one.spent < LITTLE.fuel // 2
    assert one.fuel_used > 2 * LITTLE.fuel


def test_fuel_that_is_just_enough_is_enough_and_a_little_less_is_not(sandbox: Image) -> None:
    needed = instance(sandbox, BUSY)
    needed.play("", deaf)
    instance(sandbox, BUSY, Limits(needed.spent)).play("", deaf)
    with pytest.raises(Ended) as caught:
        instance(sandbox, BUSY, Limits(needed.spent - 10_000)).play("", deaf)
    assert (caught.value.kind, caught.value.message) == ("fuel", "ran out of fuel")
    assert caught.value.spent == needed.spent - 10_000
    assert caught.value.fuel_used == needed.fuel_used - 10_000


def test_loading_has_the_fuel_of_one_call(sandbox: Image) -> None:
    with pytest.raises(Ended) as caught:
        instance(sandbox, "while True: pass")
    assert caught.value.kind == "fuel"
    assert caught.value.spent == caught.value.fuel_used == LITTLE.fuel


def test_memory_has_a_cap_that_holds_for_all_that_is_kept(sandbox: Image) -> None:
    source = "held = []\ndef act(view):\n    held.append(bytearray(4 << 20))\n    return 'C'"
    one = instance(sandbox, source, Limits(memory=32 << 20))
    answers = [one.play("", deaf) for _ in range(8)]
    assert answers[0] == "0"
    assert "memory" in answers[-1]
    assert instance(sandbox, source, Limits(memory=64 << 20)).play("\n" * 7, deaf) == "\n".join(
        "0" * 8
    )


def test_what_a_bot_makes_lies_side_by_side_and_not_all_over_the_image(sandbox: Image) -> None:
    make = """
import builtins
factories = (lambda: {len(made): 1}, lambda: [1, 2], lambda: "x" * 99, lambda: lambda: 0, lambda: len(made) / 7)
made = []
for _ in range(200):
    made += [make() for make in factories]
"""
    pages = int(shown_value(sandbox, "len({builtins.id(thing) >> 12 for thing in made})", make))
    assert pages < 120


def test_an_instance_that_has_ended_stays_so(sandbox: Image) -> None:
    one = instance(sandbox, "def act(view):\n    while True: pass")
    for kind in ("fuel", "crash", "crash"):
        with pytest.raises(Ended) as caught:
            one.play("", deaf)
        assert caught.value.kind == kind


def test_an_exception_of_the_host_is_not_mistaken_for_the_bot_s(sandbox: Image) -> None:
    def broken(caller: Instance, request: str) -> str:
        raise ZeroDivisionError(request)

    one = instance(sandbox, "def act(view): return view.them.source")
    with pytest.raises(ZeroDivisionError, match="source them"):
        one.play("", broken)
    assert instance(sandbox, COOPERATOR).play("", broken) == "0"


# The world of a bot: the same on every machine, and at all times


SAME = {
    "time.time()": "1000000000.0",
    "time.time_ns()": "1000000000000000000",
    "time.monotonic() - time.perf_counter()": "0.0",
    "time.process_time() == time.thread_time()": "True",
    "time.clock_gettime(time.CLOCK_REALTIME)": "1000000000.0",
    "time.sleep(1e9)": "None",
    "time.strftime('%Y-%m-%d')": "'2001-09-09'",
    "time.localtime()[:6]": "(2001, 9, 9, 1, 46, 40)",
    "time.gmtime(0)[:3]": "(1970, 1, 1)",
    "time.ctime()": "'Sun Sep  9 01:46:40 2001'",
    "time.asctime()": "'Sun Sep  9 01:46:40 2001'",
    "datetime.datetime.now()": "datetime.datetime(2001, 9, 9, 1, 46, 40)",
    "datetime.datetime.now(datetime.timezone.utc).year": "2001",
    "datetime.datetime.today()": "datetime.datetime(2001, 9, 9, 1, 46, 40)",
    "datetime.date.today()": "datetime.date(2001, 9, 9)",
    "datetime.date(2020, 2, 29).strftime('%d %B')": "'29 February'",
    "calendar.month_name[2]": "'February'",
    "uuid.uuid5(uuid.NAMESPACE_DNS, 'x').hex[:8]": "'05b16a01'",
    "random.Random(5).random()": "0.6229016948897019",
    "sys.modules['random'].random()": "0.8444218515250481",
    "sys.modules['random'].Random().random()": "0.8444218515250481",
    "hash('cooperate')": "1401565709",
    "hash(('C', 1, b'D', None))": "1478607520",
    "hash(1.5)": "1073741825",
    "hash(frozenset('CD')) == hash(frozenset('DC'))": "True",
    "hash(Text('C')) == hash('C')": "True",
    "hash(Pair('C', 'D')) == hash(('C', 'D'))": "True",
    "hash(Frozen('C')) == hash(('C',))": "True",
    "hash(Colour.RED) == hash('RED')": "True",
    "hash(object()) == hash(object())": "False",
    "[id(view), id(view.game), id(view)]": "[16, 32, 16]",
    "[hash(act), id(act)]": "[16, 16]",
    "{*'cooperate'}": "{'c', 'o', 'p', 'e', 'r', 'a', 't'}",
    "str(set('defect'))": "\"{'d', 'e', 'f', 'c', 't'}\"",
    "[*frozenset('defect') - {'e'}]": "['d', 'f', 'c', 't']",
    "[*{'b': 1, 'a': 2}.keys() | {'c'}]": "['b', 'a', 'c']",
    "max(set('DDCC'), key='DDCC'.count)": "'D'",
    "eval(\"[*{'b', 'a'}]\")": "['b', 'a']",
    "[*copy.deepcopy({'b', 'a'})]": "['b', 'a']",
    "os.environ": "environ({})",
    "os.getenv('HOME')": "None",
    "os.path.exists('/')": "False",
    "sys.argv + sys.orig_argv + sys.path": "[]",
    "sys.executable": "''",
    "sys.stdin": "None",
    "threading.active_count()": "1",
    "__name__": "'bot'",
    "sorted(globals())[-3:]": "['threading', 'time', 'uuid']",
}  # fmt: skip
BEFORE = """
import calendar, copy, dataclasses, datetime, enum, os, random, sys, threading, time, uuid
from collections import namedtuple

class Text(str): pass
Pair = namedtuple("Pair", "first second")
Frozen = dataclasses.make_dataclass("Frozen", ["move"], frozen=True)
Colour = enum.Enum("Colour", "RED")
"""


@pytest.mark.parametrize(("expression", "value"), SAME.items(), ids=SAME)
def test_a_bot_sees_the_same_world_everywhere(sandbox: Image, expression: str, value: str) -> None:
    assert shown_value(sandbox, expression, BEFORE) == value


@pytest.mark.parametrize(
    "expression",
    [
        "os.urandom(4)",
        "secrets.token_hex(4)",
        "secrets.choice('CD')",
        "uuid.uuid4()",
        "time.get_clock_info('time')",
        "os.cpu_count()",
        "os.uname()",
        "os.getcwd()",
        "os.path.abspath('x')",
        "os.times()",
        "open('bot.py')",
    ],
)
def test_what_would_differ_raises(sandbox: Image, expression: str) -> None:
    before = "import os, secrets, time, uuid"
    assert shown_value(sandbox, expression, before).startswith(
        "Denied('bots have no files, clock, "
    )
    assert shown_value(sandbox, "issubclass(type(_caught()), PermissionError)", f"""{before}
def _caught():
    try: {expression}
    except PermissionError as error: return error
""") == "True"  # fmt: skip


def test_a_bot_finds_no_names_or_paths_of_the_host(sandbox: Image) -> None:
    expression = "[getattr(m, '__file__', None) or '' for m in sys.modules.values()]"
    files = ast.literal_eval(shown_value(sandbox, expression, "import sys"))
    assert {file.partition("/")[2].partition("/")[0] for file in files if file} == {
        "0", "bundled", "python", "world",
    }  # fmt: skip
    everything = "sys.prefix, sys.version, sys.implementation, vars(view.game), dir(view), view.me"
    seen = shown_value(sandbox, everything, "import sys")
    assert not re.search(r"tournament|/home|/root|/tmp|/work|bot\.wasm|fuel|depth", seen)


# `random`


def test_random_is_of_the_match_and_repeatable(sandbox: Image) -> None:
    bot = """
import random
import random as again
from random import choice, Random

def act(view):
    assert again is random is __import__("random")
    if len(view.mine) % 5 == 4:
        random.seed()
    numbers = [random.random(), Random().random(), random.SystemRandom().random()]
    return choice("CD") if sum(numbers) < 1.5 else random.choice("CD")
"""
    batch = batch_of(*[[bot, COOPERATOR]] * 6, setting=LONG)
    played = play(sandbox, batch)
    assert not played.faults
    assert matches_of(batch, played) == matches_of(batch, play(sandbox, batch))
    strict = play(sandbox, batch_of(*[[bot, COOPERATOR]] * 6, setting=LONG, alone=True))
    assert played.moves == strict.moves
    assert len(set(played.moves[::2])) == 6
    assert [played.reads[slot] for slot in range(12)] == [2, 0] * 6


@pytest.mark.parametrize(
    "draw",
    [
        "random.random()",
        "random.Random().random()",
        "random.SystemRandom().random()",
        "view.rng.random()",
        "(random.seed(), random.random())[1]",
        "(random.Random(1).seed(), random.random())[1]",
        "(view.rng.seed(), view.rng.random())[1]",
        "__import__('random').random()",
        "eval('random.random()')",
        "eval(\"__import__('random').random()\", {})",
        "(exec('import random; x = random.random()', space := {}), space['x'])[1]",
    ],
)
def test_every_way_to_draw_draws_from_the_tape_of_the_match(sandbox: Image, draw: str) -> None:
    bot = f"import random\ndef act(view): return 'CD'[{draw} < 0.5]"
    batch = batch_of(*[[bot, COOPERATOR]] * 3, [bot, bot], setting=LONG)
    played = play(sandbox, batch)
    assert not played.faults
    drawn = [played.moves[slot] for slot in (0, 2, 4, 6, 7)]
    assert len(set(drawn)) == 5
    assert drawn == [play(sandbox, batch).moves[slot] for slot in (0, 2, 4, 6, 7)]
    assert all(5 < moves.count("1") < 35 for moves in drawn)
    assert played.reads == dict.fromkeys(range(8), 2) | {1: 0, 3: 0, 5: 0}


def test_a_seed_of_its_own_is_as_anywhere(sandbox: Image) -> None:
    assert (
        shown_value(sandbox, "(random.seed(5), random.random())[1]", "import random")
        == "0.6229016948897019"
    )


# What is told of faults


def test_what_was_printed_is_kept_up_to_a_bound_and_told_with_the_fault(sandbox: Image) -> None:
    bot = """
import io, sys

def act(view):
    print("round", len(view.mine), sep="=", end=";")
    print("noted", file=sys.stderr)
    print("kept elsewhere", file=io.StringIO())
    print("x" * 5_000)
    raise ValueError("no\\n  more")
"""
    fault = fault_of(sandbox, bot)
    assert fault is not None
    assert fault.output == "round=0;noted\n" + "x" * 3_986
    assert fault.message == "ValueError: no"
    assert fault.traceback == (
        '  File "bot.py", line 9, in act\n    raise ValueError("no\\n  more")\nValueError: no\n  more'
    )


def test_a_long_traceback_shows_its_end(sandbox: Image) -> None:
    bot = "def act(view, depth=0):\n    return act(view, depth + 1) if depth < 500 else {}['x']"
    fault = fault_of(sandbox, bot)
    assert fault is not None
    assert fault.message == "KeyError: 'x'"
    assert fault.traceback.count("line 2, in act") == 20
    assert fault.traceback.endswith("KeyError: 'x'")
