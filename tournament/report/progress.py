"""Show the progress of a session with its rate and the time left: a bar on a terminal, or else plain lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tournament.report.tables import console
from tournament.report.text import counted

LINE_SECONDS = 2.0
"""The least number of seconds from one line to the next, except for the last line."""


Show = Callable[[int, int], None]
"""Shows how many matches have been recorded so far, and how many are expected in all; this number may rise."""


@contextmanager
def progress(total: int) -> Iterator[Show]:
    """Yield a function to call whenever matches have been recorded."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=console(error=True)) as bar:
        task = bar.add_task("", total=total)

        def show(done: int, total: int) -> None:
            elapsed = bar.tasks[0].elapsed
            rate = f"{done / elapsed if elapsed else 0:,.0f} matches/s"
            bar.update(task, completed=done, total=total, description=rate)

        yield show


class Lines:
    """Writes a line to stderr for the first matches, then at most every two seconds, and for the last match."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.last_line = -LINE_SECONDS

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last_line < LINE_SECONDS and done < total:
            return
        self.last_line = now
        rate = done / max(now - self.began, 1e-9)
        ending = f", {(total - done) / rate:.0f} s left" if 0 < done < total else ""
        matches = counted(total, "match", "matches")
        sys.stderr.write(f"{done:,} of {matches}, {rate:,.0f}/s{ending}\n")
        sys.stderr.flush()
