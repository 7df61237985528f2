"""One match of the program: its namespace, and the few builtins that belong to the match.

All matches share one dictionary of builtins, for a copy each would be most of what a match takes of memory. Those
that differ by match find theirs by the namespace they are called from.
"""

import builtins
import inspect
import operator
import random
import sys
import types

import faults
import rewrite
import sets
import shims

_import = builtins.__import__
_matches = {}
"""Matches by the identity of their namespaces."""


class Match:
    """The view, the function that moves, and the fault of not having loaded, if so."""

    __slots__ = ("act", "fault", "identities", "namespace", "printed", "random", "view")

    def __init__(self, view):
        self.view = view
        self.act = None
        self.fault = None
        self.printed = ""
        self.identities = None
        self.namespace = {}
        self.random = None

    def start(self, code, broken):
        """Run the program's body in a fresh namespace, and find its `act`; or be broken, as its source is."""
        if broken:
            self.fault = broken
            return
        namespace = self.namespace = {"__name__": "bot", "__builtins__": BUILTINS}
        _matches[id(namespace)] = self
        try:
            exec(code, namespace)
            self.act = _entry(namespace)
        except BaseException as error:
            self.fault = faults.raised("load", error, self.printed)

    def end(self):
        """Forget the match: simulated ones are many, and their namespaces would stay."""
        _matches.pop(id(self.namespace), None)
        self.namespace.clear()


def _entry(namespace):
    if "act" in namespace:
        return namespace["act"]
    if "Bot" in namespace:
        return namespace["Bot"]().act
    raise NameError("the program defines neither a function act(view) nor a class Bot")


def _asking():
    """The match whose code called the builtin that calls this."""
    frame = sys._getframe(2)
    while frame is not None:
        match = _matches.get(id(frame.f_globals))
        if match is not None:
            return match
        frame = frame.f_back
    raise RuntimeError("no match is being played")


def _importing(name, globals=None, locals=None, fromlist=(), level=0):
    """`import`, with a `random` of the match's own."""
    if name != "random":
        return _import(name, globals, locals, fromlist, level)
    match = _asking()
    if match.random is None:
        match.random = _random_over(match.view.rng)
    return match.random


def _printing(*values, sep=" ", end="\n", file=None, flush=False):
    """`print`: the first of it is kept, and shown with a fault."""
    text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
    if file is not None and not isinstance(file, shims.Sink):
        file.write(text)
        return
    match = _asking()
    match.printed += text[: faults.MOST_TEXT - len(match.printed)]


def _identity(value, /):
    """`id`: numbers in the order in which a match first asks for them."""
    match = _asking()
    if match.identities is None:
        match.identities = sets.Identities()
    return match.identities(value)


def _hash(value, /):
    """`hash`: the same in every image."""
    return sets.stable_hash(value, _identity)


def _random_over(tape):
    """A module `random` whose functions draw from a tape."""

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


def _exec(source, globals=None, locals=None, /, **options):
    """`exec`, with the order of sets as in the bot's own source."""
    return _run(exec, "exec", source, globals, locals, **options)


def _eval(source, globals=None, locals=None, /):
    """`eval`, with the order of sets as in the bot's own source."""
    return _run(eval, "eval", source, globals, locals)


def _run(run, mode, source, globals, locals, **options):
    caller = sys._getframe(2)
    if globals is None:
        own = caller.f_locals
        if caller.f_code.co_flags & inspect.CO_OPTIMIZED:
            own = {**own}
        globals, locals = caller.f_globals, own if locals is None else locals
    if isinstance(source, (str, bytes)):
        source = source.lstrip() if mode == "eval" else source
        source = rewrite.compile_bot(source, "<string>", mode)
    globals.setdefault("__builtins__", BUILTINS)
    return run(source, globals, locals, **options)


def _compile(source, filename, mode, flags=0, dont_inherit=False, optimize=-1, **options):
    """`compile`, with the order of sets as in the bot's own source."""
    if not flags and not options:
        return rewrite.compile_bot(source, filename, mode)
    return compile(source, filename, mode, flags, True, optimize, **options)


_OPERATORS = {
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "Sub": operator.sub,
    "BitAnd=": operator.iand,
    "BitOr=": operator.ior,
    "BitXor=": operator.ixor,
    "Sub=": operator.isub,
}


def _ordered(name, left, right):
    """An operator's result, in order where it is a set that dict views made."""
    result = _OPERATORS[name](left, right)
    return sets.ordered(result, left, right) if type(result) is builtins.set else result


BUILTINS = vars(builtins) | {
    "__import__": _importing,
    "compile": _compile,
    "eval": _eval,
    "exec": _exec,
    "frozenset": sets.frozenset,
    "hash": _hash,
    "id": _identity,
    "print": _printing,
    "set": sets.set,
    rewrite.ORDERED: _ordered,
    rewrite.SET: sets.set,
}
