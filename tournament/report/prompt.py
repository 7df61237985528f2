"""A prompt at which users type SQL queries."""

import contextlib
import io
import sys
from collections.abc import Callable
from typing import Any

from tournament.errors import UsageError
from tournament.report.text import printable

Rows = tuple[list[str], list[tuple[Any, ...]]]
"""Column names, and rows."""


def ask(answer: Callable[[str], Rows], show: Callable[[Rows], None]) -> bool:
    """Read queries and show their answers until the input ends. A semicolon or an empty line ends a query.

    Returns whether all queries could be answered. On a terminal this is always True, since people mistype.
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
    """Read a line, with a prompt on a terminal. Returns None at the end of input or if interrupted."""
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except (EOFError, KeyboardInterrupt):
        return None


def _answered(query: str, answer: Callable[[str], Rows], show: Callable[[Rows], None]) -> bool:
    """Show the answer to a query, or write its error to stderr. Returns whether there was no error."""
    query = query.rstrip(";")
    if not query:
        return True
    try:
        show(answer(query))
    except UsageError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return False
    return True
