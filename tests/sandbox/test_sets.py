"""The guest's own sets, and the rewriting that puts them in the place of the built-in ones; both run natively here."""

import builtins
import copy
import importlib
import operator
import pickle
import sys
import traceback
import warnings
from collections.abc import KeysView, MutableSet, Sequence, Set
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tournament.sandbox.image import GUEST, SEEDS

GUEST_MODULES = ("faults", "match", "rewrite", "sets", "shims")


def _guest() -> dict[str, ModuleType]:
    """The guest's modules, under names that nobody else sees."""
    before = {name: sys.modules.pop(name, None) for name in GUEST_MODULES}
    sys.path[:0] = [str(GUEST), str(SEEDS.parent)]
    try:
        return {name: importlib.import_module(name) for name in GUEST_MODULES}
    finally:
        del sys.path[:2]
        for name, module in before.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module


MODULES = _guest()
sets, rewrite, match = MODULES["sets"], MODULES["rewrite"], MODULES["match"]


# Sets


items = st.one_of(
    st.integers(-3, 9),
    st.sampled_from(["C", "D", "", "xy", None, True, 1.0, ("C", 1), b"C"]),
    st.frozensets(st.integers(0, 2), max_size=2),
)
unhashable = st.sampled_from([[], {}, bytearray()])
lists = st.lists(items, max_size=6)
Pair = tuple[Any, Any]
"""A value for our set, and the same value for a built-in one."""


def pairs(values: list[Any]) -> st.SearchStrategy[Pair]:
    """Containers of the values: ours, and of the same kind built in."""
    factories = [
        (list, list),
        (tuple, tuple),
        (dict.fromkeys, dict.fromkeys),
        (lambda v: dict.fromkeys(v).keys(), lambda v: dict.fromkeys(v).keys()),
        (iter, iter),
        (sets.set, set),
        (sets.frozenset, frozenset),
        (set, set),
        (frozenset, frozenset),
    ]
    return st.sampled_from(factories).map(lambda both: (both[0](values), both[1](values)))


arguments = lists.flatmap(pairs)
IN_PLACE = ("iand", "ior", "isub", "ixor")
OPERATORS = [
    f"__{name}__" for name in ("and", "or", "sub", "xor", *IN_PLACE, "le", "lt", "ge", "gt", "eq")
]
GIVEN_ANY = ["union", "intersection", "difference", "update"]
GIVEN_ANY += ["intersection_update", "difference_update"]
GIVEN_ONE = ["symmetric_difference", "issubset", "issuperset", "isdisjoint"]
GIVEN_ONE += ["symmetric_difference_update"]
GIVEN_AN_ITEM = ["add", "discard", "remove", "__contains__"]
GIVEN_NOTHING = ["copy", "clear", "__len__"]

named = st.sampled_from
operations = st.one_of(
    st.tuples(named(OPERATORS), st.tuples(arguments)),
    st.tuples(named(GIVEN_ANY), st.lists(arguments, max_size=3)),
    st.tuples(named(GIVEN_ONE), st.tuples(arguments)),
    st.tuples(named(GIVEN_AN_ITEM), st.one_of(items, unhashable).map(lambda item: ((item, item),))),
    st.tuples(named(GIVEN_NOTHING), st.just(())),
)
"""Something to do with a set: the name of a method or operator, and what it is given."""


def plain(value: Any) -> Any:
    """The value with our sets as built-in ones, so that it can be compared."""
    if type(value) is sets.set:
        return set(map(plain, value))
    if type(value) is sets.frozenset:
        return frozenset(map(plain, value))
    return value


def outcome(value: Any, name: str, given: Sequence[Any]) -> tuple[Any, ...]:
    """What an operation comes to, with the kind of what it returned or raised."""
    try:
        method = (
            partial(getattr(operator, name), value) if name in OPERATORS else getattr(value, name)
        )
        result = plain(method(*given))
    except Exception as error:
        return (type(error),)
    return type(result), result


@given(lists, st.lists(operations, max_size=8))
def test_a_set_does_what_the_built_in_one_does(
    start: list[Any], todo: list[tuple[str, Sequence[Pair]]]
) -> None:
    ours, other = sets.set(start), set(start)
    for name, given_to_it in todo:
        mine, theirs = ([pair[side] for pair in given_to_it] for side in (0, 1))
        assert outcome(ours, name, mine) == outcome(other, name, theirs)
        assert plain(ours) == other
        assert len(ours) == len(other)


@given(lists, operations)
def test_a_frozenset_does_what_the_built_in_one_does(
    start: list[Any], todo: tuple[str, Sequence[Pair]]
) -> None:
    ours, other = sets.frozenset(start), frozenset(start)
    name, given_to_it = todo
    # An operator on a frozenset and a view makes a set, if it is a built-in one.
    assume(not any(isinstance(other, KeysView) for _, other in given_to_it))
    mine, theirs = ([pair[side] for pair in given_to_it] for side in (0, 1))
    assert outcome(ours, name, mine) == outcome(other, name, theirs)
    assert plain(ours) == other == frozenset(start)


@given(lists)
def test_iteration_is_in_order_of_insertion(values: list[Any]) -> None:
    expected = list(dict.fromkeys(values))
    for kind in (sets.set, sets.frozenset):
        assert list(kind(values)) == expected
        assert list(kind(iter(values))) == expected
        assert list(kind(kind(values))) == expected
        assert list(copy.copy(kind(values))) == expected
        assert list(kind(values).copy()) == expected
        assert list(kind().union(values)) == expected


@given(lists, lists)
def test_what_operators_make_is_in_the_order_of_the_left_and_then_of_the_right(
    left: list[Any], right: list[Any]
) -> None:
    one, other = sets.set(left), sets.set(right)
    assert list(one | other) == list(dict.fromkeys(left + right))
    assert list(one & other) == [item for item in one if item in other]
    assert list(one - other) == [item for item in one if item not in other]
    assert list(one ^ other) == [*(one - other), *(other - one)]
    view = dict.fromkeys(right).keys()
    assert list(one | view) == list(one | other)
    assert list(one ^ view) == list(one ^ other)


@given(st.lists(items, unique=True))
def test_pop_takes_the_last_and_takes_as_long_from_a_long_set(values: list[Any]) -> None:
    ours = sets.set(values)
    popped = [ours.pop() for _ in values]
    assert [*map(repr, popped)] == [*map(repr, reversed(list(dict.fromkeys(values))))]
    with pytest.raises(KeyError, match="pop from an empty set"):
        ours.pop()


def test_a_set_is_found_among_sets_by_its_elements() -> None:
    one = sets.set([sets.frozenset("CD"), "C"])
    assert sets.set("DC") in one
    one.remove(sets.set("DC"))
    assert sets.set("DC") not in one
    one.discard(sets.set("DC"))
    with pytest.raises(TypeError):
        _ = [] in one


def test_a_set_is_shown_as_the_built_in_one() -> None:
    assert repr(sets.set("CD")) == "{'C', 'D'}"
    assert repr(sets.set()) == "set()"
    assert repr(sets.frozenset("CD")) == "frozenset({'C', 'D'})"
    assert repr(sets.frozenset()) == "frozenset()"
    assert repr(type("Moves", (sets.set,), {})("CD")) == "Moves({'C', 'D'})"


def test_kinds_of_sets_are_told_apart_as_the_built_in_ones() -> None:
    for ours, other in ((sets.set(), set()), (sets.frozenset(), frozenset())):
        for mine, theirs in ((sets.set, set), (sets.frozenset, frozenset), (Set, Set)):
            assert isinstance(ours, mine) is isinstance(other, theirs)
            assert isinstance(other, mine) is isinstance(other, theirs)
        assert isinstance(ours, MutableSet) is isinstance(other, MutableSet)
    assert not issubclass(sets.set, sets.frozenset)
    assert sets.set[int] is sets.set
    with pytest.raises(TypeError, match="unhashable"):
        hash(sets.set())


def test_a_subclass_may_be_made_as_of_the_built_in_one() -> None:
    class Moves(sets.set):  # type: ignore[misc, name-defined]
        def __init__(self, name: str) -> None:
            self.name = name

    class Pair(sets.frozenset):  # type: ignore[misc, name-defined]
        def __new__(cls, first: str, second: str) -> Any:
            return super().__new__(cls, (first, second))

    moves = Moves("mine")
    moves.add("C")
    assert (moves.name, list(moves)) == ("mine", ["C"])
    assert type(moves | {"D"}) is sets.set
    assert list(Pair("C", "D")) == ["C", "D"]
    assert type(Pair("C", "D").union("E")) is sets.frozenset
    assert hash(Pair("C", "D")) == hash(sets.frozenset("DC"))


def test_sets_survive_copying_and_pickling_is_possible() -> None:
    nested = {"moves": sets.set([sets.frozenset("CD"), "C"])}
    assert copy.deepcopy(nested) == nested
    assert type(sets.set("C").__reduce__()[0]) is type(sets.set)
    assert pickle.loads(pickle.dumps(sets.set("DC").__reduce__()[1])) == (["D", "C"],)


# Hashes


@given(items, items)
def test_equal_values_have_equal_hashes(one: Any, other: Any) -> None:
    if one == other:
        assert sets.stable_hash(one) == sets.stable_hash(other)


@given(st.recursive(items, lambda inner: st.tuples(inner, inner)))
def test_a_hash_fits_into_the_image_s_and_so_means_the_same_behind_a_hash_method(
    value: Any,
) -> None:
    class Holder:
        def __hash__(self) -> int:
            return sets.stable_hash(value)  # type: ignore[no-any-return]

    if not isinstance(value, frozenset | float | int):
        assert 0 <= sets.stable_hash(value) < 1 << 31
    assert hash(Holder()) == sets.stable_hash(value) or isinstance(value, frozenset)


def test_frozensets_of_one_content_have_one_hash_in_whatever_order() -> None:
    assert hash(sets.frozenset("CDE")) == hash(sets.frozenset("EDC"))
    assert hash(sets.frozenset([sets.frozenset("CD")])) == hash(
        sets.frozenset([sets.frozenset("DC")])
    )
    assert {sets.frozenset("CD"): 1}[sets.frozenset("DC")] == 1


def test_identities_are_numbered_as_they_are_asked_for() -> None:
    numbers = sets.Identities()
    one, other = object(), object()
    assert [numbers(one), numbers(other), numbers(one)] == [16, 32, 16]
    assert len({numbers(object()) for _ in range(100)}) == 100


# Rewriting


def run(source: str, rewritten: bool) -> dict[str, Any]:
    """The namespace that a program leaves, with its sets as built-in ones."""
    space: dict[str, Any] = {"__name__": "bot"}
    if rewritten:
        space["__builtins__"] = vars(builtins) | {
            name: match.BUILTINS[name]
            for name in (
                "set",
                "frozenset",
                rewrite.SET,
                rewrite.ORDERED,
                "exec",
                "eval",
                "compile",
            )
        }
        exec(rewrite.compile_bot(source), space)
    else:
        exec(compile(source, "bot.py", "exec", dont_inherit=True), space)
    return space


SOURCES = """
### display
result = {3, 1, 2, 1}

### display with strings
result = {'C', *'DC', 'E'}

### empty and nested displays
result = {(), frozenset({1, 2}), frozenset({*()})}

### stars
x = [1, 2]
result = {*x, *{3}, 4, *{5: 6}}

### comprehension
result = {x % 3 for x in range(9) if x}

### nested comprehensions
result = {y for x in range(4) for y in {x, x * x} if {y} & {1, 4, 9}}

### comprehension of comprehensions
result = len({frozenset({y for y in range(x)}) for x in range(4)})

### walrus
result = ({y for x in range(3) if (y := x * 2)}, y)[1]

### walrus in a display
result = ({(n := 4), n + 1}, n)

### in a function
def f(x):
    return {x, *{y for y in (x, 3)}}
result = f(2)

### in a lambda
result = (lambda x, y={1, 2}: {x} | y)(3)

### in a default and an annotation
def f(x: {1} = {2}) -> {3}: return x
result = f()

### in a decorator
def add(s):
    return lambda f: s | {f()}
@add({1})
def result(): return 2

### in a class
class A:
    x = {1, 2}
    def __set__(self, a, b): pass
    y = {3} | x
result = A.y

### a method called __set__
class A:
    def __set__(self, *a): 1 / 0
    x = {n for n in (1, 2)}
result = A.x

### names of its own for set
set = frozenset = list
__set__ = __ordered__ = None
result = {1, 2}

### in a generator
def g():
    got = yield {1}
    yield {got, 2}
i = g()
result = [next(i), i.send(5)][1]

### a yield in a display
def g():
    yield {(yield 1), 2}
i = g()
next(i)
result = i.send(7)

### await
async def f(): return 1
async def g(): return {await f(), *{x async for x in h()}}
async def h():
    yield 2
try: g().send(None)
except StopIteration as end: result = end.value

### try
try:
    {[]}
except TypeError:
    result = {1}

### conditions
result = {1 if {1} < {1, 2} else 2, 3 and {0} and 4}

### slices
result = [1, 2, 3][{1}.pop():] + [len({1, 2})]

### f-strings
result = f'{ {1} } {len({1, 2})!r:>{len({1, 2, 3})}}'

### dicts are left alone
result = {1: {2}, **{3: {4}}}, {x: x for x in {1, 2}}

### match
def f(x):
    match x:
        case {'a': {'b': y}}: return {y}
        case set(): return {*x, 0}
        case [1, *rest]: return {*rest}
        case str() | None: return {2} & {x}
result = [f({'a': {'b': 1}}), f({5}), f([1, 2]), f('x'), f(None)]

### global and nonlocal
def f():
    global x
    x = {1}
    def g():
        nonlocal y
        y |= {2}
    y = {3}
    g()
    return y
result = (f(), x)

### set operators
a, b = {1, 2, 3}, {2, 3, 4}
result = a & b, a | b, a - b, a ^ b, a < b, a == b

### updates
a = {1}
b = a
a |= {2}
a &= {1, 2, 5}
a -= {1}
a ^= {7}
result = a, b, a is b

### numbers keep their operators
keys = 12
keys -= 2
keys &= 14
keys ^= 1
result = keys - 3 | 4, keys & 6, 7 - keys

### views
d, e = {'a': 1, 'b': 2}, {'b': 2, 'c': 3}
result = [d.keys() & e, d.keys() | e, d.keys() - e.keys(), d.keys() ^ e, d.items() & e.items()]
result += [{'b'} & d.keys(), d.keys() & {'b'}, {'b'} ^ d.keys(), d.keys() - 'a']

### views compared
d = {'a': 1}
result = d.keys() == {'a'}, {'a'} == d.keys(), d.keys() < {'a', 'b'}, {'a'} >= d.keys()

### views assigned
d = {'a': 1, 'b': 2}
k = d.keys()
k &= {'a'}
j = d.keys()
j |= 'c'
i = d.items()
i -= {('a', 1)}
h = d.keys()
h ^= {'a', 'z'}
result = k, j, i, h, d

### views assigned to attributes
class A:
    def __init__(self): self.__keys = {'a': 1, 'b': 2}.keys()
    def cut(self):
        self.__keys &= {'a'}
        return self.__keys
result = A().cut()

### views assigned to items
calls = []
def at(x):
    calls.append(x)
    return x
d = {'k': {'a': 1, 'b': 2}.keys()}
def f():
    at(d)[at('k')] -= at({'a'})
f()
result = d, [str(c) for c in calls[1:2]], len(calls)

### assignment reads before it evaluates
class A:
    n = 5
    def f(self):
        self.n = 9
        return 2
a = A()
a.n -= a.f()
result = a.n, 'keys'

### assignment of slices
class A(dict):
    def __getitem__(self, k): return 7
    def __setitem__(self, k, v): self.k = k, v
a = A()
a[1:2] -= a['keys']
a[1:2, 3] ^= a['x']
result = str(a.k)

### operators of its own
class A:
    def __sub__(self, o): return 'sub'
    def __rsub__(self, o): return 'rsub'
    def __iand__(self, o): return 'iand'
a, keys = A(), {}
b = A()
b &= 1
c = A()
c &= a
result = a - keys, keys - a, b, c

### exec
d = {}
exec('x = {1, 2}', d)
result = d['x']

### exec with the names around it
y = 5
exec('x = {y, 2}')
result = x

### exec in a function changes nothing
def f():
    x = 1
    exec('x = 2')
    return x
result = f()

### exec in a class
class A:
    exec('x = {1}')
result = A.x

### eval
result = eval(' {1, 2} | {x for x in (3,)}')

### eval in a function
def f(y):
    return eval('{y, 1}')
result = f(4)

### eval with names
result = eval('{x, y}', {'x': 1}, {'y': 2})

### eval of bytes
result = eval(b'{1, 2}')

### compile
result = eval(compile('{1, 2}', 'x', 'eval'))

### compile of a tree
import ast
tree = ast.parse('{1, 2}', mode='eval')
text = ast.dump(tree)
result = eval(compile(tree, 'x', 'eval')), ast.dump(tree) == text

### compile to a tree
import ast
result = ast.dump(compile('{1}', 'x', 'eval', ast.PyCF_ONLY_AST))

### methods of real sets
real = type({}.keys() | ())
result = set.union({1}, [2]), set.intersection({1, 2}, (2,)), {1}.union(real([2]))

### real sets from elsewhere
d = {1: 1, 2: 2}
view = d.keys().__and__({1})
result = [view | {3}, {3} | view, view & {1}, {1, 3} - view, {*view, 5}, view == {1}]
result += [isinstance(view, set), set.union(view, [4]), view.union({5})]
"""
PROGRAMS = {
    name: source for name, _, source in (each.partition("\n") for each in SOURCES.split("### ")[1:])
}
PROGRAMS["a long chain"] = f"x = 5\nkeys = {{1}}\nresult = 0{' + x' * 600}, x{' - x' * 600}"
PROGRAMS["many branches"] = "\n".join(
    [
        "def f(x):",
        "    if x == 0: return {0}",
        *(f"    elif x == {n}: return {{{n}}}" for n in range(1, 300)),
        "result = f(299)",
    ]
)


def _shown(value: Any) -> Any:
    """The value with sets in a form that can be compared and is in no order."""
    if isinstance(value, tuple | list):
        return type(value)(map(_shown, value))
    if isinstance(value, dict):
        return {key: _shown(each) for key, each in value.items()}
    return plain(value)


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_a_rewritten_program_means_what_it_did(source: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        rewritten, as_it_was = (_shown(run(source, way)["result"]) for way in (True, False))
    assert rewritten == as_it_was
    assert type(rewritten) is type(as_it_was)


@pytest.mark.parametrize(
    ("expression", "order"),
    [
        ("{'d', 'c', 'b', 'a'}", "dcba"),
        ("{x for x in 'dcba'}", "dcba"),
        ("{*'dc', *'ba'}", "dcba"),
        ("set('dcba')", "dcba"),
        ("frozenset('dcba')", "dcba"),
        ("d.keys() | 'ab'", "dcab"),
        ("d.keys() & {'c', 'd', 'e'}", "dc"),
        ("'ab' | d.keys() if False else {'a', 'b'} | d.keys()", "abdc"),
        ("d.keys() ^ ['c', 'b', 'a']", "dba"),
        ("d.keys() - ['x']", "dc"),
        ("f('|')", "dcba"),
        ("f('&')", "dc"),
        ("f('^')", "ba"),
        ("eval('{*\"dcba\"}')", "dcba"),
    ],
)
def test_every_way_to_a_set_is_in_order(expression: str, order: str) -> None:
    source = f"""
d = dict.fromkeys("dc")
def f(operator):
    class A: pass
    A.k = k = d.keys()
    at = [d.keys()]
    if operator == "|": k |= "ba"; A.k |= "ba"; at[0] |= "ba"
    if operator == "&": k &= "cd"; A.k &= "cd"; at[0] &= "cd"
    if operator == "^": k ^= ["d", "c", "b", "a"]; A.k ^= "dcba"; at[0] ^= "dcba"
    assert "".join(k) == "".join(A.k) == "".join(at[0])
    return k
result = "".join({expression})
"""
    assert run(source, rewritten=True)["result"] == order


@pytest.mark.parametrize(
    "source",
    [
        "x = {\n    1,\n    2 / 0,\n}",
        "\n\nx = {y / 0\n     for y in\n     (1,)}",
        "def f():\n    return [\n        {1}, {\n        *g()}]\ndef g():\n    raise ValueError\nf()",
        "d = {}\nx = (d.keys()\n     & 5)",
        "d = {}\nk = d.keys()\nk |= (\n    1 /\n    0)",
        "class A:\n    keys = None\na = A()\n\na.keys &= {\n  1}",
    ],
)
def test_lines_stay_where_they_were(source: str) -> None:
    def lines(rewritten: bool) -> list[tuple[int | None, str]]:
        try:
            run(source, rewritten)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            return [(f.lineno, f.name) for f in frames if f.filename == "bot.py"]
        raise AssertionError("it was to raise")

    def outer(frames: list[tuple[int | None, str]]) -> list[tuple[int | None, str]]:
        # A set comprehension had a frame of its own once, as a list comprehension does.
        return [(line, name.replace("setcomp", "listcomp")) for line, name in frames]

    assert outer(lines(rewritten=True)) == outer(lines(rewritten=False))


@pytest.mark.parametrize(
    "source",
    ["x = {", "{1} = 2", "{1}: int = 3", "def f():\n    {1}\n  {2}", "{1}\nreturn", "x = {**1, 2}"],
)
def test_what_is_no_program_stays_none(source: str) -> None:
    for compiled in (rewrite.compile_bot, lambda text: compile(text, "bot.py", "exec")):
        with pytest.raises(SyntaxError):
            compiled(source)


def test_a_source_without_sets_or_views_is_compiled_as_it_is() -> None:
    source = "def act(view):\n    return view.theirs[-1] if view.theirs else 'C'\n"
    assert rewrite.compile_bot(source) == compile(source, "bot.py", "exec")


# Canonical form

BOT = """
import math
from random import choice as pick

LIMIT = 3

class Counter:
    '''Counts.'''
    total = 0

    def count(self, moves, wanted="D"):
        '''How many.'''
        return sum(1 for move in moves if move == wanted)

def helper(view, *rest, **more):
    counter = Counter()
    try:
        return counter.count(view.theirs, wanted="D") > LIMIT
    except ValueError as problem:
        return bool(problem)

def act(view):
    '''Move.'''
    # a comment
    match view.mine:
        case [first, *others]:
            last = first
        case {"x": x, **left}:
            last = left
    return "D" if helper(view) and min(len(view.mine), 9) else "C"
"""
RENAMED = """
'''A docstring.'''
import math
from random import choice as take
BOUND = 3
class Numbers:
    total = 0
    def count(me, them, wanted="D"):
        'Another.'
        return sum(1 for each in them if each == wanted)
def help_out(game, *args, **kwargs):
    n = Numbers()
    try:
        return n.count(game.theirs, wanted="D") > BOUND
    except ValueError as e: return bool(e)

def act(game):
    match game.mine:
        case [a, *b]: c = a
        case {"x": x, **d}: c = d
    return ("D"
            if help_out(game) and min(len(game.mine), 9)
            else "C")
"""


def test_names_comments_docstrings_and_layout_are_not_in_the_canonical_form() -> None:
    assert rewrite.canonical(BOT) == rewrite.canonical(RENAMED) != ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("min(", "max("),
        ("9)", "8)"),
        ("9)", "9.0)"),
        ('"D"', '"C"'),
        ("> LIMIT", ">= LIMIT"),
        ("view.mine", "view.theirs"),
        ("helper(view) and", "helper(view) or"),
        ("import math", "import cmath"),
        ("choice as pick", "choices as pick"),
        ("Counter()", "Counter"),
        ("def act", "def move"),
        ("total = 0", "other = 0"),
        ("def count", "def amount"),
        ("LIMIT = 3", "LIMIT = -3"),
        ("except ValueError", "except KeyError"),
        ("case [first, *others]", "case [*others, first]"),
        ("> LIMIT", "> act"),
        ("LIMIT = 3", "global LIMIT\nLIMIT = 3"),
    ],
)
def test_what_a_program_does_is_in_the_canonical_form(old: str, new: str) -> None:
    assert old in BOT
    assert rewrite.canonical(BOT.replace(old, new)) != rewrite.canonical(BOT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def f(key): return max(key, key=len)", "def f(k): return max(k, k=len)"),
        ("class A:\n    x = 1\ny = A.x", "class A:\n    z = 1\ny = A.x"),
        ("class A:\n    def __eq__(s, o): return 1", "class A:\n    def __ne__(s, o): return 1"),
        ("class A:\n    def getrandbits(s, k): pass", "class A:\n    def getrandbit(s, k): pass"),
        ("def f(a): return a", "def f(a): return n0"),
        ("def f(a): return a", "def f(a): return b"),
        ("def f(min): return min\nmin([])", "def f(x): return x\nx([])"),
        ("from math import sin\nsin = sin(1)", "from math import sin\nx = x(1)"),
        ("import math\ndef f(math): return math\nmath.pi", "import math\ndef f(x): return x\nx.pi"),
        ("from math import *\ndef f(pi): return pi\npi", "from math import *\ndef f(x): return x\nx"),
        ("x = 1\ny = globals()['x']", "z = 1\ny = globals()['x']"),
        ("def f(x): return 'x' in locals()", "def f(y): return 'x' in locals()"),
        ("def f(x): return eval('x + 1')", "def f(y): return eval('x + 1')"),
        ("def f(x): pass\nf(x=1)", "def f(y): pass\nf(x=1)"),
        ("class P:\n    __match_args__ = ('x',)\nmatch q:\n    case P(x=1): x = 2",
         "class P:\n    __match_args__ = ('x',)\nmatch q:\n    case P(y=1): y = 2"),
        ("__x = 1\nclass A:\n    def f(s): return __x", "y = 1\nclass A:\n    def f(s): return y"),
        ("def f(o):\n    o.a = 1\n    a = 2\n    return a", "def f(o):\n    o.b = 1\n    b = 2\n    return b"),
        ("'doc'\nx = 1\n'not'", "'doc'\nx = 1\n"),
        ("if x:\n    'a'\n    f()", "if x:\n    f()"),
        ("act = 1", "Bot = 1"),
    ],
)  # fmt: skip
def test_programs_that_do_different_things_have_different_canonical_forms(
    one: str, other: str
) -> None:
    assert rewrite.canonical(one) != rewrite.canonical(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("def act(v): return v.mine", "def act(view):\n\n  return (view . mine)"),
        ("x = {1: 2}\ndef f(a, /, b, *, c): return a + b + c", "y = {1:2}\ndef g(d, /, e, *, h): return d+e+h"),
        ("for i in range(3): pass", "for j in range(3): pass"),
        ("with f() as a: a()", "with f() as b: b()"),
        ("x = [a for a in b for b in c]", "y = [d for d in e for e in c]"),
        ("(x := 1)", "(y := 1)"),
        ("import numpy as np\nnp.x", "import numpy as n\nn.x"),
        ("def f():\n    global a\n    a = 1", "def f():\n    global b\n    b = 1"),
        ("lambda x, *y, **z: x", "lambda a, *b, **c: a"),
        ("x = 0xff", "x = 255"),
        ("x = 'a' 'b'", "y = \"ab\""),
        ("class A: pass\nA()", "class B:\n    'doc'\n    pass\nB()"),
        ("async def f(x): return await x", "async def g(y): return await y"),
    ],
)  # fmt: skip
def test_programs_that_differ_in_names_and_layout_alone_have_one_canonical_form(
    one: str, other: str
) -> None:
    assert rewrite.canonical(one) == rewrite.canonical(other) != ""


@pytest.mark.parametrize("source", ["def", "x = = 1", "\0", "return {", "  x", "\ud800"])
def test_what_is_no_program_has_no_canonical_form(source: str) -> None:
    assert rewrite.canonical(source) == ""


DEEP = {
    "brackets": "[" * 5_000 + "]" * 5_000,
    "brackets that parse": "x = " + "[" * 90 + "]" * 90,
    "a long sum": "x = 1" + " + 1" * 20_000,
    "many signs": "x = " + "-" * 50_000 + "1",
    "many branches": "if a: pass\n" + "elif a: pass\n" * 3_000,
    "deep blocks": "".join(" " * n + "if a:\n" for n in range(99)) + " " * 99 + "pass",
    "many attributes": "x" + ".x" * 20_000,
    "a number without end": "x = " + "9" * 100_000,
    "a number in sixteens": "x = 0x" + "f" * 100_000,
    "many lines": "x = 1\n" * 20_000,
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_no_depth_or_length_of_a_source_raises(source: str) -> None:
    assert isinstance(rewrite.canonical(source), str)
    with suppress(SyntaxError, RecursionError, MemoryError, ValueError):
        rewrite.compile_bot(source + "\n{1}")


@given(st.text())
def test_any_text_has_a_canonical_form_or_none(source: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        assert isinstance(rewrite.canonical(source), str)


WORDS = """
def class act x y ( ) [ ] { } : , . = == + - * ** if else for in lambda return import from as try
except match case global nonlocal del with async await yield 'x' 1 ; := @ -> _ __x __set__ is not
"""
words = st.sampled_from([*WORDS.split(), "\n", "\n    ", "\t"])


@given(st.lists(words, max_size=30).map(" ".join))
def test_any_heap_of_words_is_rewritten_to_what_it_was_or_refused_as_before(source: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        rewrite.canonical(source)
        try:
            compile(source, "bot.py", "exec")
        except SyntaxError:
            with pytest.raises(SyntaxError):
                rewrite.compile_bot(source)
        else:
            rewrite.compile_bot(source)
