"""How far a sitting has come: a bar with rate and time left on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tournament.match import Outcome
from tournament.report.tables import console

LINE_SECONDS = 2.0


class Lines:
    """A line on stderr with the first outcomes, then every two seconds, and with the last."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.began = time.monotonic()
        self.said = -LINE_SECONDS

    def __call__(self, outcomes: Sequence[Outcome]) -> None:
        self.done += len(outcomes)
        now = time.monotonic()
        if now - self.said < LINE_SECONDS and self.done < self.total:
            return
        self.said = now
        rate = self.done / max(now - self.began, 1e-9)
        left = (self.total - self.done) / rate if rate else 0
        ending = f", {left:.0f} s left" if self.done < self.total else ""
        sys.stderr.write(f"{self.done:,} of {self.total:,} matches, {rate:,.0f}/s{ending}\n")
        sys.stderr.flush()


class Bar:
    """A progress bar."""

    def __init__(self, bar: Progress, total: int) -> None:
        self.bar = bar
        self.task = bar.add_task("", total=total)

    def __call__(self, outcomes: Sequence[Outcome]) -> None:
        self.bar.advance(self.task, len(outcomes))
        task = self.bar.tasks[0]
        elapsed = task.elapsed or 0
        rate = task.completed / elapsed if elapsed else 0
        self.bar.update(self.task, description=f"{rate:,.0f} matches/s")


@contextmanager
def progress(total: int) -> Iterator[Lines | Bar]:
    """What to call with outcomes as they are recorded."""
    if not sys.stderr.isatty():
        yield Lines(total)
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, TimeRemainingColumn(), console=console(error=True)) as bar:
        yield Bar(bar, total)
