"""A prompt for SQL."""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from tournament.errors import UsageError
from tournament.report.text import printable

Rows = tuple[list[str], list[tuple[Any, ...]]]


def ask(answer: Callable[[str], Rows], show: Callable[[Rows], None]) -> bool:
    """Read queries, each ended by a semicolon or an empty line, and show the answers until the input ends.

    Returns whether all of them could be answered; who types may be wrong now and then.
    """
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - gives input() its history
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    lines: list[str] = []
    answered = True
    while (line := _line("sql> " if not lines else "...> ")) is not None:
        lines.append(line)
        query = "\n".join(lines).strip()
        if query.endswith(";") or not line.strip():
            lines.clear()
            answered &= _answered(query, answer, show)
    answered &= _answered("\n".join(lines).strip(), answer, show)
    return answered or sys.stdin.isatty()


def _line(prompt: str) -> str | None:
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except (EOFError, KeyboardInterrupt):
        return None


def _answered(query: str, answer: Callable[[str], Rows], show: Callable[[Rows], None]) -> bool:
    query = query.rstrip(";")
    if not query:
        return True
    try:
        show(answer(query))
    except UsageError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return False
    return True
