"""Takes away what is not repeatable or not there: the clock, entropy, files, processes and unknown modules.

The image imports nothing of the kind from its host, so an untouched call would end the whole instance; after
`install` it raises, or answers the same for everybody.
"""

import builtins
import io
import os
import sys
import time

_EPOCH = 1_000_000_000.0
_DENIED_IN_OS = (
    "abort _exit chdir chmod close closerange cpu_count dup dup2 execv execve fdopen fork fstat fsync ftruncate "
    "get_terminal_size getcwd getcwdb getpid getppid getrandom isatty kill link listdir lseek lstat mkdir makedirs "
    "open pipe popen pread putenv pwrite read readlink remove removedirs rename replace rmdir scandir sendfile "
    "setpriority stat symlink sync system times truncate umask unlink unsetenv urandom utime waitpid walk write"
).split()


_DENIED_EVENTS = ("os.", "socket.", "subprocess.", "shutil.", "glob.", "tempfile.")


class Denied(PermissionError):
    """Raised by everything that a bot may not do."""


def _denied(*arguments, **options):
    raise Denied("bots have no files, clock, network, processes or entropy")


def _audit(event, arguments):
    if event == "open" or event.startswith(_DENIED_EVENTS):
        _denied()


class Sink(io.TextIOBase):
    """Where `sys.stdout` and `sys.stderr` lead: nowhere."""

    def write(self, text):
        return len(text)


def _stopped_clock():
    return _EPOCH


def _nothing(*arguments):
    return None


def install():
    """Put the shims in place, for good: the image is a snapshot of what is left."""
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = Sink()
    sys.stdin = sys.__stdin__ = None
    builtins.open = io.open = io.open_code = io.FileIO = _denied
    builtins.input = builtins.breakpoint = _denied
    os.environ.clear()
    posix = sys.modules.get("posix")
    for name in _DENIED_IN_OS:
        for module in (os, posix):
            if hasattr(module, name):
                setattr(module, name, _denied)
    _stop_the_clock()
    sys.meta_path[:] = [f for f in sys.meta_path if f.__name__ in ("BuiltinImporter", "FrozenImporter")]
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()


def guard():
    """Refuse what C code would still try; for the running image, since building it needs to open files."""
    sys.addaudithook(_audit)


def _stop_the_clock():
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(time, name, _stopped_clock)
        setattr(time, f"{name}_ns", lambda: int(_EPOCH * 1e9))
    time.sleep = _nothing
    for name in ("localtime", "gmtime", "ctime", "strftime", "asctime", "mktime"):
        setattr(time, name, _denied)
