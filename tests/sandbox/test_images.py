"""Bots move the same in two images that were built separately and have different hash seeds."""

import pytest

from tests.batches import batch_of, matches_of, shown_value
from tournament.engine.play import play
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.sandbox import image
from tournament.sandbox.instance import Image

LONG = Setting(load_game("prisoners_dilemma"), Repetition(rounds=30))
OPPONENT = """
import random

def act(view):
    return random.choice("CD")
"""
PROBES = {
    "the first of a set": "next(iter({'north', 'east', 'south', 'west', *view.theirs}))",
    "the last of a set": "[*set('cooperate or defect' + str(view.mine))][-1]",
    "what a set pops": "set(map(str, range(len(view.mine) + 3))).pop()",
    "the most frequent move": "max(set(h), key=h.count) if (h := view.mine + view.theirs) else 'C'",
    "a set comprehension": "[*{word[::-1] for word in words}][n % 5]",
    "set operations": "[*({*words} ^ {*words[:n % 7]} | {str(n)} - {'x'})][0]",
    "set methods": "[*set(words).union('abc').difference(words[n % 3]).intersection(words + ['a'])][-1]",
    "set updates": "(s := {*words}, s.update('xyz'), s.difference_update(words[:n % 4]), [*s][0])[-1]",
    "frozensets": "[*frozenset(words) | {*'pq'}][n % len(words)]",
    "sets of sets": "str([*{frozenset(word) for word in words}][n % 3])",
    "views": "[*d.keys() & {*words}, *d.keys() ^ {'q', 'north'}, *d.items() - {(1, 2)}][n % 4]",
    "the text of a set": "str({*words, n})",
    "hash of a text": "hash(words[n % 5] + str(n))",
    "hash of a tuple": "hash((n, 'x', ('y', b'z'), None, frozenset(words)))",
    "hash of an object": "hash(act) + hash(Thing()) + hash(Thing)",
    "hash of what holds texts": "hash(Pair('x', str(n))) + hash(Frozen(words[n % 5])) + hash(Colour.RED)",
    "hash of a date": "hash(datetime.date(2020, 1, 1 + n % 28))",
    "hash of a fraction": "hash(fractions.Fraction(n, 7)) + hash(decimal.Decimal(n))",
    "sorted by hash": "sorted(words, key=hash)[n % 5]",
    "identities": "id(view) + id(words) + id([n])",
    "a counter": "Counter(words + view.mine).most_common(2)",
    "the order of a counter": "str(Counter(sorted(words)) + Counter({*words}))",
    "random": "random.random()",
    "random with a seed": "(random.seed('seed' + str(n)), random.random())",
    "a generator with a text for a seed": "random.Random('seed').random()",
    "a generator without a seed": "random.Random().random()",
    "the shared module": "sys.modules['random'].random()",
    "a shuffle of a set": "random.sample([*{*words}], 3)",
    "a set from a text that is run": "eval('[*{\"b\", \"a\", \"c\"}][0]')",
    "time": "time.time() + time.monotonic() + datetime.datetime.now().timestamp()",
    "names": "str(dir()) + str(dir(view)) + str(sorted(vars(sys.modules['builtins'])))",
    "the text of what is given": "repr(view) + repr(view.game) + repr([view.me, *view.others])",
    "the tree of the opponent": "view.them.tree",
    "json, repr and pickle": "json.dumps(d, sort_keys=True) + repr(d) + str(pickle.dumps(words))",
    "an error's text": "str(error_of(lambda: {}[words[n % 5]])) + str(error_of(lambda: [] + {*words}))",
}  # fmt: skip
BOT = """
import datetime, decimal, enum, fractions, json, pickle, random, sys, time
from collections import Counter, namedtuple
from dataclasses import dataclass

class Thing: pass
Pair = namedtuple("Pair", "first second")
Colour = enum.Enum("Colour", "RED")

@dataclass(frozen=True)
class Frozen:
    word: str

def error_of(call):
    try: call()
    except Exception as error: return error

words = ["north", "east", "south", "west", "up", "down", "left", "right"]
d = dict(zip(words, range(8)))

def act(view):
    n = len(view.mine)
    text = str({probe})
    return "CD"[sum(text.encode()) * len(text) % 3 == 1]
"""


@pytest.fixture(scope="module")
def apart(sandbox: Image, tmp_path_factory: pytest.TempPathFactory) -> tuple[Image, Image]:
    """The image of all tests, and another that is built for this test from the same source."""
    folder = tmp_path_factory.mktemp("image")
    image.build(folder / "bot.wasm")
    (folder / "bot.cwasm").write_bytes(image._compile(folder / "bot.wasm"))
    return sandbox, Image(folder / "bot.cwasm")


def test_the_images_differ_in_their_hash_seeds(apart: tuple[Image, Image]) -> None:
    one, other = (shown_value(each, "'text'.__hash__()") for each in apart)
    assert one != other


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_bot_makes_the_same_moves_in_both_and_uses_nearly_the_same_fuel(
    apart: tuple[Image, Image], probe: str
) -> None:
    bot = BOT.replace("{probe}", probe)
    batch = batch_of([bot, OPPONENT], [OPPONENT, bot], setting=LONG, alone=True)
    one, other = (play(each, batch) for each in apart)
    assert not one.faults
    assert matches_of(batch, one) == matches_of(batch, other)
    assert one.fuel == pytest.approx(other.fuel, rel=0.01)


@pytest.mark.parametrize("probe", PROBES.values(), ids=PROBES)
def test_a_bot_sees_the_same_values_in_both(apart: tuple[Image, Image], probe: str) -> None:
    before = BOT.partition("def act")[0]
    expression = f"(lambda n: ({probe}))(4)"
    one, other = (shown_value(each, expression, before + "act = 1") for each in apart)
    assert one == other
