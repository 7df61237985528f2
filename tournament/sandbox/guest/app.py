"""The guest: runs one program's matches in lockstep, inside the image.

It is a convenience for its program, not a guard over it: a bot can reach and break everything here, and then only
its own matches suffer. What guards is outside: memory, fuel and the one import, `host`.
"""

import abc, array, ast, base64, binascii, bisect, builtins, calendar, cmath, collections, collections.abc  # noqa: E401
import colorsys, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions  # noqa: E401
import functools, graphlib, hashlib, heapq, hmac, inspect, io, itertools, json, keyword, linecache, math  # noqa: E401
import numbers, operator, pickle, pprint, queue, random, re, reprlib, secrets, statistics, string, struct  # noqa: E401
import sys, textwrap, time, token, tokenize, traceback, types, typing, unicodedata, uuid, warnings, weakref, zlib  # noqa: E401

import rewrite
import sets
import shims
import wit_world
from seeds import Tape, tape_name
from view import Game, Program, View

MOST_TEXT = 4000
FIRST_CODE = 48
FAULTY = "!"

shims.install()
warnings.simplefilter("ignore")


class Match:
    """One match of the program: its view, its namespace, and the function that moves."""

    def __init__(self, view):
        self.view = view
        self.act = None
        self.fault = None
        self.printed = ""
        self._random = None

    def start(self, code):
        """Run the program's body in a fresh namespace, and find its `act`."""
        namespace = {"__name__": "bot", "__builtins__": self._builtins()}
        try:
            exec(code, namespace)
            self.act = _entry(namespace)
        except BaseException as error:
            self.fault = self.describe("load", error)

    def describe(self, kind, error):
        """A fault as data: kind, message, the bot's own traceback, and what it had printed."""
        if isinstance(error, MemoryError):
            kind = "memory"
        message, trace = _told(error)
        return [kind, message, trace, self.printed]

    def random_module(self):
        """`import random` for this match: the module's functions over the match's private tape."""
        if self._random is None:
            self._random = _random_over(self.view.rng)
        return self._random

    def _print(self, *values, sep=" ", end="\n", file=None, flush=False):
        text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
        if file is not None and not isinstance(file, shims.Sink):
            file.write(text)
        else:
            self.printed += text[: MOST_TEXT - len(self.printed)]

    def _import(self, name, globals=None, locals=None, fromlist=(), level=0):
        if name == "random":
            return self.random_module()
        return _import(name, globals, locals, fromlist, level)

    def _builtins(self):
        return BUILTINS | {
            "__import__": self._import,
            "id": sets.Identities(),
            "print": self._print,
        }


_import = builtins.__import__


def _entry(namespace):
    if "act" in namespace:
        return namespace["act"]
    if "Bot" in namespace:
        return namespace["Bot"]().act
    raise NameError("the program defines neither a function act(view) nor a class Bot")


def _random_over(tape):
    class Random(random.Random):
        def __init__(self, x=None):
            super().__init__(tape.getrandbits(64) if x is None else x)

        def seed(self, a=None, version=2):
            super().seed(tape.getrandbits(64) if a is None else a, version)

    module = types.ModuleType("random")
    public = {name: value for name, value in vars(random).items() if not name.startswith("_")}
    vars(module).update(public)
    for name in random.__all__:
        if not name[0].isupper():
            setattr(module, name, getattr(tape, name))
    module.Random = module.SystemRandom = Random
    return module


def _told(error):
    """An exception's message and traceback as text, whatever the bot made of its exceptions."""
    try:
        text = "".join(traceback.format_exception_only(error)).strip()[:MOST_TEXT]
        frames = "".join(_own_frames(error.__traceback__))
        return text.splitlines()[-1], (frames + text)[-MOST_TEXT:]
    except BaseException:
        return "an exception that cannot be shown", ""


def _own_frames(trace):
    """The frames of a traceback that are the bot's, each with its line of source."""
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == "bot.py":
            line = linecache.getline("bot.py", trace.tb_lineno).strip()[:200]
            yield f'  File "bot.py", line {trace.tb_lineno}, in {code.co_name}\n    {line}\n'
        trace = trace.tb_next


def _shown(value):
    """A returned value as short text, without running any code of the bot's."""
    kind = type(value)
    if kind in (str, bytes):
        value = value[:80]
    plain = (str, bytes, int, float, bool, type(None), complex)
    if kind is int and value.bit_length() > 256:
        return "a very large int"
    if kind in plain:
        return f"{value!r} ({kind.__name__})"
    return f"an object of type {type.__getattribute__(kind, '__name__')[:80]}"


def _exec(source, globals=None, locals=None, /, **options):
    """`exec`, with the order of sets as in the bot's own source."""
    return _run(exec, "exec", source, globals, locals, **options)


def _eval(source, globals=None, locals=None, /):
    """`eval`, with the order of sets as in the bot's own source."""
    return _run(eval, "eval", source, globals, locals)


def _run(run, mode, source, globals, locals, **options):
    caller = sys._getframe(2)
    if globals is None:
        globals, locals = caller.f_globals, caller.f_locals if locals is None else locals
    if isinstance(source, str):
        source = rewrite.compile_bot(source.lstrip(" \t") if mode == "eval" else source, "<string>", mode)
    globals.setdefault("__builtins__", caller.f_globals["__builtins__"])
    return run(source, globals, locals, **options)


def _compile(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, **options):
    """`compile`, with the order of sets as in the bot's own source."""
    if isinstance(source, str) and not flags and not options:
        return rewrite.compile_bot(source, filename, mode)
    return compile(source, filename, mode, flags, True, optimize, **options)


_OPERATORS = {
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "Sub": operator.sub,
}


def _ordered(name, left, right):
    return sets.ordered(_OPERATORS[name](left, right), left, right)


BUILTINS = vars(builtins) | {
    "set": sets.set,
    "frozenset": sets.frozenset,
    "hash": sets.stable_hash,
    "exec": _exec,
    "eval": _eval,
    "compile": _compile,
    rewrite.SET: sets.set,
    rewrite.ORDERED: _ordered,
}


class Raised:
    """Stands for the move of a match whose `act` raised."""

    def __init__(self, error):
        self.error = error


def not_loaded(view):
    """Stands in for the `act` of a match whose program would not load."""
    return None


class Table:
    """All matches of the program in this instance, and the codes by which moves travel."""

    def __init__(self, setup):
        self.game = Game(setup["game"])
        programs = [
            Program(digest, functools.partial(wit_world.host, f"source {number}"))
            for number, digest in enumerate(setup["programs"])
        ]
        self.matches = [
            Match(View(self.game, seat, [programs[number] for number in lineup], private, shared))
            for seat, lineup, private, shared in setup["matches"]
        ]
        self.names = [
            {chr(FIRST_CODE + i): move for i, move in enumerate(legal)} for legal in self.game.moves
        ]
        self.codes = [{move: c for c, move in names.items()} for names in self.names]
        self.kinds = {type(move) for move in self.codes[0]}
        self.uniform = len({*self.game.moves}) == 1
        self.arrange()

    def arrange(self):
        """Line up what every round needs of the matches that are left."""
        self.mine = [match.view.mine for match in self.matches]
        self.theirs = [match.view.theirs for match in self.matches]
        self.acts = [(match.act or not_loaded, match.view) for match in self.matches]

    def line(self, joint):
        """Show every match the last joint moves, and answer with the codes of its next moves and the faults."""
        if joint:
            self.show(joint)
        made = []
        for act, view in self.acts:
            try:
                made.append(act(view))
            except BaseException as error:
                made.append(Raised(error))
        return self.encoded(made)

    def show(self, joint):
        """Add a round to every view; `joint` has a column for each seat, the own one first."""
        width = len(self.matches)
        if self.uniform and self.game.seats == 2:
            moves = [*map(self.names[0].__getitem__, joint)]
            collections.deque(map(list.append, self.mine, moves[:width]), 0)
            collections.deque(map(list.append, self.theirs, moves[width:]), 0)
            return
        columns = [joint[start : start + width] for start in range(0, len(joint), width)]
        for match, characters in zip(self.matches, zip(*columns)):
            self.show_one(match.view, characters)

    def show_one(self, view, characters):
        """Add a round to one view of any game."""
        seats = self.game.seats
        moves = [self.names[(view.seat + k) % seats][c] for k, c in enumerate(characters)]
        view.mine.append(moves[0])
        view.theirs.append(moves[1] if seats == 2 else tuple(moves[1:]))

    def encoded(self, made):
        """The codes of the moves, and behind a space the faults by position (JSON) where there are any."""
        if self.uniform and {*map(type, made)} == self.kinds:
            try:
                return "".join(map(self.codes[0].__getitem__, made))
            except KeyError:
                pass
        codes, faults = [], {}
        for position, (match, move) in enumerate(zip(self.matches, made)):
            character, fault = self.judged(match, move)
            codes.append(character)
            if fault:
                faults[position] = fault
        return "".join(codes) + (" " + json.dumps(faults) if faults else "")

    def judged(self, match, move):
        """The code of a legal move, or the fault that was made instead."""
        if match.fault:
            return FAULTY, match.fault
        if type(move) is Raised:
            return FAULTY, match.describe("error", move.error)
        codes = self.codes[match.view.seat]
        if type(move) in self.kinds and move in codes:
            return codes[move], None
        legal = ", ".join(map(repr, codes))
        return FAULTY, ["illegal", f"moved {_shown(move)}; legal are {legal}", "", match.printed]


table = None


class WitWorld(wit_world.WitWorld):
    """The exports of `bot.wit`."""

    def load(self, source: str, setup: str) -> str:
        global table
        shims.guard()
        table = Table(json.loads(setup))
        linecache.cache["bot.py"] = (len(source), None, source.splitlines(True), "bot.py")
        try:
            code = rewrite.compile_bot(source)
        except BaseException as error:
            for match in table.matches:
                match.fault = match.describe("load", error)
            return ""
        for match in table.matches:
            match.start(code)
        table.arrange()
        return ""

    def play(self, lines: str) -> str:
        return "\n".join(map(table.line, lines.split("\n")))

    def drop(self, positions: str) -> str:
        gone = {*json.loads(positions)}
        table.matches[:] = [match for n, match in enumerate(table.matches) if n not in gone]
        table.arrange()
        return ""
