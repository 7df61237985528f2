"""Takes away what is not repeatable or not there: the clock, entropy, files, processes and unknown modules.

The image imports nothing of the kind from its host, so an untouched call would end the whole instance; after
`install` it raises, or answers the same for everybody.
"""

import builtins
import io
import os
import posix
import sys
import time
import types

_EPOCH = 1_000_000_000.0
_CLOCKS = ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime")
_FINDERS = ("BuiltinImporter", "FrozenImporter")
_PURE_IN_POSIX = ("fspath", "strerror", "_path_normpath", "_path_splitroot_ex")
_DENIED_EVENTS = ("os.", "socket.", "subprocess.", "shutil.", "glob.", "tempfile.")


class Denied(PermissionError):
    """Raised by everything that a bot may not do."""

    __module__ = "builtins"


def _denied(*arguments, **options):
    raise Denied("bots have no files, clock, network, processes or entropy")


def _audit(event, arguments):
    if event == "open" or event.startswith(_DENIED_EVENTS):
        _denied()


class Sink(io.TextIOBase):
    """Where `sys.stdout` and `sys.stderr` lead: nowhere."""

    def write(self, text):
        return len(text)


def stop():
    """Stop the clock and take entropy away; before other modules are imported, for they keep what they find."""
    builtins.open = builtins.input = builtins.breakpoint = _denied
    os.urandom = posix.urandom = time.get_clock_info = time.clock_getres = _denied
    time.sleep = lambda seconds: None
    for name in _CLOCKS:
        setattr(time, name, lambda *clock: _EPOCH)
        setattr(time, f"{name}_ns", lambda *clock: int(_EPOCH * 1e9))
    for name in ("gmtime", "localtime", "ctime"):
        setattr(time, name, _of_epoch(getattr(time, name), _EPOCH))
    time.asctime = _of_epoch(time.asctime, time.gmtime())
    epoch, strftime = time.gmtime(), time.strftime
    time.strftime = lambda form, when=epoch: strftime(form, when)
    # The datetime written in C asks the system for the time, the one written in Python asks `time`.
    import _pydatetime

    sys.modules["datetime"] = _pydatetime


def _of_epoch(function, epoch):
    return lambda when=None: function(epoch if when is None else when)


def install():
    """Put the other shims in place, for good: the image is a snapshot of what is left."""
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Sink()
    sys.stdin = sys.__stdin__ = None
    io.open = io.open_code = io.FileIO = _denied
    os.environ.clear()
    for name, value in [*vars(posix).items()]:
        if isinstance(value, types.BuiltinFunctionType) and name not in _PURE_IN_POSIX:
            setattr(posix, name, _denied)
            if hasattr(os, name):
                setattr(os, name, _denied)
    _same_for_all()
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder.__name__ in _FINDERS]
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()


def _same_for_all():
    """Answer the same in every image where the standard library would use entropy or a hash of strings."""
    import random

    import sets

    def new(cls, *arguments, **options):
        return super(random.Random, cls).__new__(cls, 0)

    def seed(self, a=None, version=2, seed=random.Random.seed):
        seed(self, 0 if a is None else a, version)

    random.Random.__new__, random.Random.seed = new, seed
    random.seed(0)
    builtins.hash = sets.stable_hash


def guard():
    """Refuse what C code would still try; for the running image, since building it needs to open files."""
    sys.addaudithook(_audit)
