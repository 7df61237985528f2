"""The guest: runs one program's matches side by side, inside the image.

It is a convenience for its program, not a guard over it: a bot can reach and break everything here, and then only
its own matches suffer. What guards is outside: memory, fuel and the one import, `host`.
"""

import shims

shims.stop()

# Imported now, so that bots find them in the snapshot: nothing can be read from a file later.
import abc, array, ast, base64, binascii, bisect, builtins, calendar, cmath, collections, collections.abc  # noqa: E401
import colorsys, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions  # noqa: E401
import functools, gc, graphlib, hashlib, heapq, hmac, inspect, io, itertools, json, keyword, linecache, math  # noqa: E401
import numbers, operator, pickle, pprint, queue, random, re, reprlib, secrets, statistics, string, struct  # noqa: E401
import sys, textwrap, time, token, tokenize, traceback, types, typing, unicodedata, uuid, warnings, weakref, zlib  # noqa: E401

import faults
import heap
import lasting
import plain
import rewrite
import wit_world
from table import Table

shims.install()
warnings.simplefilter("ignore")

table = None
code = None
broken = None


class WitWorld(wit_world.WitWorld):
    """The exports of `bot.wit`."""

    def load(self, source: str, setup: str) -> str:
        if table is None:
            shims.guard()
        _start(source, setup)
        return ""

    def play(self, lines: str) -> str:
        return table.play(lines)

    def drop(self, positions: str) -> str:
        return table.drop(json.loads(positions))

    def plain(self, source: str) -> bool:
        return plain.keeps_nothing(source)


def _start(source, setup):
    """Start the matches of `setup`; the source is the one that was given before, if one was."""
    global table
    before = table
    if before is None:
        _compile(source)
    else:
        for match in before.matches:
            match.end()
    setup = json.loads(setup)
    table = Table(setup, wit_world.host, before and before.game)
    for match in table.matches:
        match.start(code, broken)
    table.arrange()
    for line in setup.get("shown", ()):
        table.show(line)


def _compile(source):
    """Set `code`, or else what is `broken` about the source."""
    global code, broken
    faults.remember(source)
    try:
        code = rewrite.compile_bot(source)
    except BaseException as error:
        broken = faults.raised("load", error, "")


REHEARSALS = 40
"""How often each program is rehearsed: until nothing that is worn in by use changes any more."""
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
    """Play programs many times, so that the image is a snapshot of an interpreter that has its ways worn in."""
    global table, code
    game = {
        "name": "", "parameters": {}, "moves": ["CD", "CD"], "payoffs": None,
        "rounds": 1, "continuation": None, "discount": 1.0, "noise": 0.0,
    }  # fmt: skip
    world = WitWorld()
    for source, matches in itertools.product([FUNCTION, CLASS] * REHEARSALS, (1, 2)):
        setup = {"game": game, "matches": [[n, ["", ""], "", ["", 0]] for n in range(matches)]}
        table = None
        _start(source, json.dumps(setup))
        for line in ["", *["01" * matches] * 9, *["1" * matches] * 9]:
            world.play(line)
        world.drop("[0]")
        for match in table.matches:
            match.end()
    table = code = None


# Kept out of every later collection, which would go through all of it, and write to all of it.
_rehearse()
gc.collect()
kept = lasting.everything()
immortal = lasting.addresses(kept)
filling = heap.filled()
gc.freeze()
