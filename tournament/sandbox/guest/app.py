"""The guest: the code inside the image that plays one program's matches side by side.

It serves its program and does not guard it: a bot can reach and break everything here, and then only its own matches
suffer. The guards are outside: the limits of memory and fuel, and the single import `host`.
"""

import shims

shims.stop()

# These are imported for bots, which find them in the snapshot. Nothing can be read from a file later.
import abc, array, ast, base64, binascii, bisect, builtins, calendar, cmath, collections, collections.abc  # noqa: E401
import colorsys, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions  # noqa: E401
import functools, gc, graphlib, hashlib, heapq, hmac, inspect, io, itertools, json, keyword, linecache, math  # noqa: E401
import numbers, operator, pickle, pprint, queue, random, re, reprlib, secrets, statistics, string, struct  # noqa: E401
import sys, textwrap, time, token, tokenize, traceback, types, typing, unicodedata, uuid, warnings, weakref, zlib  # noqa: E401

import faults
import heap
import immortal
import rewrite
import stateless
import wit_world
from group import Group

shims.install()
warnings.simplefilter("ignore")


class Bot(Group):
    """The program of this instance, with its matches. Its methods are described in `bot.wit`.

    `code` is the compiled program. If the source does not compile, `broken` is the fault that follows from it.
    """

    code = None
    broken = None

    def load(self, source: str, setup: str) -> str:
        if self.game is None:
            shims.guard()
            self.compile(source)
        else:
            for match in self.matches:
                match.end()
        self.begin(json.loads(setup))
        return ""

    def drop(self, positions: str) -> str:
        return self.leave(json.loads(positions))

    def stateless(self, source: str) -> bool:
        return stateless.keeps_nothing(source)

    def compile(self, source):
        """Compile the source."""
        faults.remember(source)
        try:
            self.code = rewrite.compile_bot(source)
        except BaseException as error:
            self.broken = faults.raised("load", error, "")

    def begin(self, setup):
        """Start the matches of a setup, and show them the rounds that the setup has `shown` already."""
        self.start(setup, wit_world.host)
        for match in self.matches:
            match.start(self.code, self.broken)
        self.arrange()
        for line in setup.get("shown", ()):
            self.show(line)


bot = Bot()


class WitWorld(wit_world.WitWorld):
    """The exports of `bot.wit`. An object of this class is made for every call, so the state is in `bot`."""

    load, play, drop, stateless = bot.load, bot.play, bot.drop, bot.stateless


REHEARSALS = 40
"""How often each program is rehearsed; with more, the snapshot does not change any more."""
FUNCTION = """
import random

KNOWN = {"C", "D"}


def act(view):
    '''Move.'''
    if not view.theirs:
        return view.legal[0]
    return view.theirs[-1] if view.rng.random() < 0.5 else view.mine[-1]
"""
CLASS = """
class Bot:
    def __init__(self):
        self.moves = {}

    def act(self, view):
        self.moves[len(view.mine)] = [move for move in view.theirs]
        return max(view.legal, key=self.moves[len(view.mine)].count)
"""


def _rehearse():
    """Play programs many times, so that the snapshot has the caches and specialised code that playing leaves behind."""
    game = {
        "name": "", "parameters": {}, "moves": ["CD", "CD"], "payoffs": None,
        "rounds": 1, "continuation": None, "discount": 1.0, "noise": 0.0,
    }  # fmt: skip
    for source, matches in itertools.product([FUNCTION, CLASS] * REHEARSALS, (1, 2)):
        setup = {"game": game, "matches": [[n, ["", ""], "", ["", 0]] for n in range(matches)]}
        rehearsed = Bot()
        rehearsed.compile(source)
        rehearsed.begin(setup)
        for line in ["", *["01" * matches] * 18]:
            rehearsed.play(line)
        rehearsed.drop("[0]")
        for match in rehearsed.matches:
            match.end()


_rehearse()
gc.collect()
kept = immortal.everything()
addresses = immortal.addresses(kept)
filling = heap.filled()
# Later collections then leave all of this alone; otherwise they would go through it and write to it.
gc.freeze()
