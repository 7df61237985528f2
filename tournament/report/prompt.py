"""A prompt at which users type SQL queries."""

import contextlib
import io
import sys
from collections.abc import Callable

from tournament.errors import UsageError
from tournament.report.text import printable

Answer = Callable[[str], None]
"""Prints the answer to a query. Raises `UsageError` if there is none."""


def ask(answer: Answer) -> bool:
    """Read queries and print their answers until the input ends. A semicolon or an empty line ends a query.

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
            answered &= _answered(query, answer)
    answered &= _answered("\n".join(lines).strip(), answer)
    return answered or sys.stdin.isatty()


def _line(prompt: str) -> str | None:
    """Read a line, with a prompt on a terminal. Returns None at the end of input or if interrupted."""
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except (EOFError, KeyboardInterrupt):
        return None


def _answered(query: str, answer: Answer) -> bool:
    """Print the answer to a query, or write its error to stderr. Returns whether there was no error."""
    query = query.rstrip(";")
    if not query:
        return True
    try:
        answer(query)
    except UsageError as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return False
    return True
