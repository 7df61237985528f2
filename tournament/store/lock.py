"""The lock that makes one process the only writer of a record.

DuckDB locks its file too, but by a kind of lock that is lost as soon as any code of the same
process opens and closes that file. This one is held on a file of its own, taken before the record
is opened, and says who holds it. No code of ours ever opens, copies or hashes the record's own
file.
"""

import fcntl
import os
import shlex
import sys
from pathlib import Path

from tournament.errors import RecordBusy


def take(path: Path) -> int:
    """Lock the record for this process; the descriptor returned holds the lock until it is closed.

    Raises `RecordBusy` if another process holds it, and `OSError` if the file cannot be made.
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
    """Who holds the lock; a process known to hold the record is described if it is the one."""
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
    program, *arguments = sys.argv or [""]
    return shlex.join([Path(program).name, *arguments])[:200]
