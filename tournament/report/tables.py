"""Print rows as tables or as JSON."""

import json
import math
import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import chain, count
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from tournament.report.text import decimals, printable

Row = Mapping[str, Any]
WIDTH_OF_A_PIPE = 240
"""The width of the output in characters if it does not go to a terminal."""
UNBOUNDED = 100_000
"""A width in characters that no table reaches, for measuring how wide a table must be."""


def console(*, error: bool = False) -> Console:
    """Return a console on stdout, or on stderr. It is wide if that is not a terminal, so that nothing is cut off."""
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else WIDTH_OF_A_PIPE
    return Console(stderr=error, width=width, markup=False, highlight=False, soft_wrap=False)


def show(rows: Sequence[Row], columns: Sequence[str], title: str = "") -> None:
    """Print the rows as a table with these columns.

    A table that is too wide for the terminal gets lines that are too long, so that words and numbers stay whole.
    """
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for column in columns:
        numeric = all(isinstance(row.get(column), int | float | Decimal | None) for row in rows)
        table.add_column(Text(printable(column)), justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(Text(printable(cell(row.get(column)))) for column in columns))
    output = console()
    unbounded = output.options.update(width=UNBOUNDED)
    least = Measurement.get(output, unbounded, table).minimum
    output.width = max(output.width, least)
    output.print(table)


def cell(value: Any) -> str:
    """Return the text of a value in a table.

    Floats have three decimal places, or more if they are small. None is an empty text.
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return decimals(value)
    if isinstance(value, list | tuple):
        return " ".join(map(cell, value))
    return str(value)


def show_json(value: Any) -> None:
    """Print a value as JSON. A float that is not finite becomes null, because JSON has no such numbers."""
    text = json.dumps(_finite(value), indent=2, default=_plain, allow_nan=False)
    sys.stdout.write(f"{text}\n")


def _plain(value: Any) -> Any:
    """Return a value of a type that JSON lacks as a float if it is a `Decimal`, or else as text."""
    return float(value) if isinstance(value, Decimal) else str(value)


def _finite(value: Any) -> Any:
    """Return the value with None for every float in it that is not finite, and with keys as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(each) for key, each in value.items()}
    return [*map(_finite, value)] if isinstance(value, list | tuple) else value


def distinct(columns: Sequence[str]) -> list[str]:
    """Return the names of columns, with a number added to each name that has occurred before."""
    names: list[str] = []
    for column in columns:
        candidates = chain([column], (f"{column}_{number}" for number in count(2)))
        names.append(next(name for name in candidates if name not in names))
    return names


def matrix(rows: Sequence[Row], order: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Arrange rows of `payoff_matrix` as a table with a row for each bot and a numbered column for each opponent.

    `order` are the names of the bots. Returns the rows of the table and its columns.
    """
    paid = {(row["bot"], row["opponent"]): row["payoff"] for row in rows}
    opponents = [*order, *sorted({row["opponent"] for row in rows} - set(order))]
    heads = {name: str(number) for number, name in enumerate(opponents)}
    table = [
        {"": heads[bot], "bot": bot} | {heads[name]: paid.get((bot, name)) for name in opponents}
        for bot in order
    ]
    return table, ["", "bot", *heads.values()]
