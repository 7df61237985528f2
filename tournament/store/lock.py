"""The lock that makes one process the only writer of a record.

DuckDB locks the record file too, but that kind of lock is lost as soon as any code of the same
process opens and closes the file. This lock is therefore held on a separate file, which also names
the process that holds it, and it is taken before the record is opened. For the same reason, only
DuckDB may open the record file: no other code may open, copy or hash it.
"""

import fcntl
import os
import shlex
import sys
from pathlib import Path

from tournament.errors import RecordBusy


def take(path: Path) -> int:
    """Lock the record for this process and return a descriptor, which holds the lock until it is closed.

    Raises `RecordBusy` if another process holds the lock, and `OSError` if the lock file cannot be made.
    """
    descriptor = os.open(_file(path), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {_command()}\n".encode(errors="replace"))
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise RecordBusy(str(path), holder(path)) from None
        raise
    return descriptor


def holder(path: Path, process: str = "") -> str:
    """Return a description of the process that the lock file names.

    If `process` is given, it is the number of the process known to have the record open: the command in the
    lock file is then used only if the lock file names the same process.
    """
    try:
        number, _, command = _file(path).read_text("utf-8", "replace").strip().partition(" ")
    except OSError:
        number, command = "", ""
    if number and process in ("", number):
        return f"process {number} ({command})"
    return f"process {process}" if process else "another process"


def _file(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _command() -> str:
    """Return the command line of this process, cut to 200 characters."""
    program, *arguments = sys.argv or [""]
    return shlex.join([Path(program).name, *arguments])[:200]
