"""Rows as tables on a terminal, or as JSON."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]
WIDTH_OF_A_PIPE = 240


def console(*, error: bool = False) -> Console:
    """A console on stdout, or stderr; wide where it is no terminal, so that nothing is cut off."""
    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else WIDTH_OF_A_PIPE
    return Console(stderr=error, width=width, markup=False, highlight=False, soft_wrap=False)


def show(rows: Sequence[Row], columns: Sequence[str], title: str = "") -> None:
    """Print the rows as a table with these columns."""
    table = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", pad_edge=False)
    for column in columns:
        numeric = all(isinstance(row.get(column), int | float | None) for row in rows)
        table.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(row.get(column))) for column in columns))
    console().print(table)


def cell(value: Any) -> str:
    """A value as it stands in a table: numbers to three places, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list | tuple):
        return " ".join(map(cell, value))
    return str(value)


def show_json(value: Any) -> None:
    """Print a value as JSON."""
    sys.stdout.write(json.dumps(value, indent=2, default=str, ensure_ascii=False) + "\n")


def objects(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    """Rows as objects, by column."""
    return [dict(zip(columns, row, strict=True)) for row in rows]


def matrix(rows: Sequence[Row], order: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of `payoff_matrix` as a square: a row for each bot and a numbered column for each opponent."""
    paid = {(row["bot"], row["opponent"]): row["payoff"] for row in rows}
    opponents = [*order, *sorted({row["opponent"] for row in rows} - set(order))]
    heads = {name: str(number) for number, name in enumerate(opponents)}
    table = [
        {"": heads[bot], "bot": bot} | {heads[name]: paid.get((bot, name)) for name in opponents}
        for bot in order
    ]
    return table, ["", "bot", *heads.values()]
