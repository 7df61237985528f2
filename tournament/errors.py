"""All exceptions that the engine raises on purpose.

    TournamentError          base of all below; the command line prints it as one line
    ├── UsageError           the caller asked for something that cannot be done (exit 2)
    │   ├── ParameterError   a game's parameter is out of its range
    │   ├── NotFound         no game, bot, match or run of that name
    │   ├── ProgramRefused   a file cannot be a program (encoding, size, characters)
    │   └── RecordRefused    a file cannot be used as a record
    │       └── RecordBusy   another process has the record open
    ├── RecordError          the record cannot be read or written
    └── SandboxError         the sandbox itself failed; a bot never causes this
        ├── ImageError       the sandbox image cannot be built or loaded
        └── WorkerLost       a worker process died, or was silent for too long or sent nonsense

A mistake of a *bot* is not an exception: it is recorded as a `Fault` (see `match.py`).
"""

import difflib
from collections.abc import Iterator
from contextlib import contextmanager


class TournamentError(Exception):
    """Base of all deliberate errors. `str()` gives one line that says what is wrong and, where possible, what to do."""


class UsageError(TournamentError):
    """The caller asked for something that cannot be done."""


class ParameterError(UsageError):
    """A game's parameter has a value outside its range."""

    def __init__(self, game: str, parameter: str, problem: str) -> None:
        super().__init__(f"{game}: {parameter} {problem}")


class NotFound(UsageError):
    """There is nothing of this kind with this name. The message suggests similar names from `known`."""

    def __init__(self, kind: str, name: str, known: list[str] | None = None) -> None:
        near = difflib.get_close_matches(name, known or [])
        hint = "; did you mean: " if near else "; there are: "
        among = hint + ", ".join(near or known or []) if known else ""
        super().__init__(f"no {kind} called {name!r}{among}")


class ProgramRefused(UsageError):
    """A file cannot be a program. `problem` says why, without the file's name."""

    def __init__(self, file: str, problem: str) -> None:
        self.file = file if file.isprintable() else ascii(file)
        super().__init__(f"{self.file}: {problem}")
        self.problem = problem


class RecordRefused(UsageError):
    """A file cannot be used as a record.

    The message advises to name another file with `option` or, if there is a `remedy`, to do that instead.
    """

    def __init__(self, problem: str, remedy: str = "", option: str = "--db") -> None:
        otherwise = f"{remedy}, or " if remedy else ""
        super().__init__(f"{problem}: {otherwise}name another file with {option}")
        self.problem = problem
        self.remedy = remedy

    def with_option(self, option: str) -> "RecordRefused":
        """Return the same error for a file that was named with another command-line option."""
        return RecordRefused(self.problem, self.remedy, option)


class RecordBusy(RecordRefused):
    """Another process has the record open. `holder` describes that process."""

    def __init__(self, path: str, holder: str) -> None:
        super().__init__(f"{path} is in use by {holder}", "wait until it ends")


class RecordError(TournamentError):
    """The record cannot be read or written."""


class SandboxError(TournamentError):
    """The sandbox itself failed."""


class ImageError(SandboxError):
    """The sandbox image cannot be built or loaded."""


class WorkerLost(SandboxError):
    """A worker process died, was silent for too long, or sent an answer that makes no sense."""


@contextmanager
def ungrouped() -> Iterator[None]:
    """Replace an exception group that the block raises by its first error, preferring a `TournamentError`."""
    try:
        yield
    except BaseExceptionGroup as group:
        error: BaseException = group.split(TournamentError)[0] or group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from group
