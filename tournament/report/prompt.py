"""A prompt for SQL."""

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import Any

from tournament.errors import UsageError
from tournament.report import tables

Ask = Callable[[str], tuple[list[str], Sequence[tuple[Any, ...]]]]


def ask(answer: Ask) -> None:
    """Read queries, each ended by a semicolon or an empty line, and print the answers until the input ends."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - gives input() its history
    lines: list[str] = []
    while (line := _line("sql> " if not lines else "...> ")) is not None:
        lines.append(line)
        query = "\n".join(lines).strip()
        if query.endswith(";") or not line.strip():
            lines.clear()
            _show(answer, query.rstrip(";"))
    _show(answer, "\n".join(lines).strip())


def _line(prompt: str) -> str | None:
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except (EOFError, KeyboardInterrupt):
        return None


def _show(answer: Ask, query: str) -> None:
    if not query:
        return
    try:
        columns, rows = answer(query)
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return
    tables.show(tables.objects(columns, rows), columns)
