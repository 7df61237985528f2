"""All that start-up has made, to be kept for good, and where it lies in memory.

Whoever builds the image makes it immortal (PEP 683): see `immortal.py` outside.
"""

import array
import gc
import hashlib
import sys
import types

_PARTS = (
    "co_consts",
    "co_names",
    "co_name",
    "co_qualname",
    "co_filename",
    "co_linetable",
    "co_exceptiontable",
)


def everything():
    """All objects that are to last, each once: what is collected as garbage at some time, and what that refers to."""
    found = {}
    pending = gc.get_objects()
    while pending:
        thing = pending.pop()
        passing = isinstance(thing, types.FrameType) or thing is found or thing is pending
        if id(thing) not in found and not passing:
            found[id(thing)] = thing
            pending += _referred_to(thing)
    return [thing for thing in found.values() if not sys._is_immortal(thing)]


def _referred_to(thing):
    if isinstance(thing, types.CodeType):
        return [getattr(thing, part) for part in _PARTS]
    return gc.get_referents(thing)


def addresses(things):
    """Where they lie, as it is looked for in the image: a mark, how many there are, and their addresses."""
    mark = hashlib.sha256(b"what lasts").digest()
    return mark + array.array("I", [len(things), *map(id, things)]).tobytes()
