"""Show the progress of a session with its rate and the time left: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tournament.report.tables import console
from tournament.report.text import counted

LINE_SECONDS = 2.0
"""The least number of seconds from one line to the next, except for the last line."""


class Lines:
    """Writes a line to stderr for the first matches, then at most every two seconds, and for the last match."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.said = -LINE_SECONDS

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.said < LINE_SECONDS and done < total:
            return
        self.said = now
        rate = done / max(now - self.began, 1e-9)
        ending = f", {(total - done) / rate:.0f} s left" if 0 < done < total else ""
        of = counted(total, "match", "matches")
        sys.stderr.write(f"{done:,} of {of}, {rate:,.0f}/s{ending}\n")
        sys.stderr.flush()


class Bar:
    """Updates a progress bar on stderr."""

    def __init__(self, bar: Progress, total: int) -> None:
        self.bar = bar
        self.task = bar.add_task("", total=total)

    def __call__(self, done: int, total: int) -> None:
        elapsed = self.bar.tasks[0].elapsed or 0
        rate = done / elapsed if elapsed else 0
        self.bar.update(
            self.task, completed=done, total=total, description=f"{rate:,.0f} matches/s"
        )


@contextmanager
def progress(total: int) -> Iterator[Lines | Bar]:
    """Yield a function to call whenever matches have been recorded.

    Its arguments are the number of matches recorded so far, and the number expected in all, which may grow.
    """
    if not sys.stderr.isatty():
        yield Lines()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=console(error=True)) as bar:
        yield Bar(bar, total)
