"""The guest: runs one program's matches in lockstep, inside the image.

It is a convenience for its program, not a guard over it: a bot can reach and break everything here, and then only
its own matches suffer. What guards is outside: memory, fuel and the one import, `host`.
"""

import shims

shims.stop()

# Imported now, so that bots find them in the snapshot: nothing can be read from a file later.
import abc, array, ast, base64, binascii, bisect, builtins, calendar, cmath, collections, collections.abc  # noqa: E401
import colorsys, contextlib, copy, csv, dataclasses, datetime, decimal, difflib, enum, fractions  # noqa: E401
import functools, graphlib, hashlib, heapq, hmac, inspect, io, itertools, json, keyword, linecache, math  # noqa: E401
import numbers, operator, pickle, pprint, queue, random, re, reprlib, secrets, statistics, string, struct  # noqa: E401
import sys, textwrap, time, token, tokenize, traceback, types, typing, unicodedata, uuid, warnings, weakref, zlib  # noqa: E401

import gc
import faults
import plain
import rewrite
import wit_world
from table import Table

shims.install()
warnings.simplefilter("ignore")

gc.collect()
gc.freeze()

table = None
code = None
broken = None


class WitWorld(wit_world.WitWorld):
    """The exports of `bot.wit`."""

    def load(self, source: str, setup: str) -> str:
        global table
        before = table
        if before is None:
            shims.guard()
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
        return ""

    def play(self, lines: str) -> str:
        return "\n".join(map(table.line, lines.split("\n")))

    def drop(self, positions: str) -> str:
        return table.drop(json.loads(positions))

    def plain(self, source: str) -> bool:
        return plain.keeps_nothing(source)


def _compile(source):
    """Set `code`, or else what is `broken` about the source."""
    global code, broken
    faults.remember(source)
    try:
        code = rewrite.compile_bot(source)
    except BaseException as error:
        broken = faults.raised("load", error, "")
