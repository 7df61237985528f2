"""The figure of the PIBR paper: social welfare against sequential steps (arXiv 2512.21024, figure 1)."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from tournament.errors import UsageError

COLOURS = ("blue", "orange", "green", "purple", "brown", "pink", "olive", "cyan")
"""Of samples, by seat."""
LINES = ("-", ":")
SUFFIXES = (".png", ".svg", ".pdf")
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""The same steps are drawn to the same bytes."""

STEPS = """
    select chain, step, round, seat, welfare, samples
    from steps
    where chain in ({chains})
    order by chain, step
"""


def plot_welfare(
    rows: Sequence[dict[str, Any]], lines: Mapping[str, float | None], title: str, path: Path
) -> None:
    """Draw the steps of chains to a file, by its ending as PNG, SVG or PDF.

    `rows` are the answer to `STEPS`. Dots are the welfare of single matches after a step, in the colour of the seat
    that it was about; the dashed line is their mean, over chains too, with gaps where no step brought a program that
    runs, and a chain that has ended counts at what it came to; bands are best-response segments; `lines` are optima by
    name, where they are known. Raises `UsageError` for another ending, a place where no file can be, without steps, or
    without matplotlib.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: a figure ends in {', '.join(SUFFIXES)}")
    if not rows:
        raise UsageError("there is no step to be drawn yet")
    figure, axes = _axes(title)
    _bands(axes, rows)
    for seat in sorted({row["seat"] for row in rows}):
        colour, label = f"tab:{COLOURS[seat % len(COLOURS)]}", f"Seat {seat} samples"
        axes.scatter(*_dots(rows, seat), s=18, color=colour, label=label, zorder=3)
    # Marked too, or else a step between two gaps would not be seen.
    axes.plot(*_means(rows), "k--D", lw=1.2, ms=3, label="Mean trajectory", zorder=4)
    for (label, value), style in zip(lines.items(), LINES, strict=False):
        if value is not None:
            axes.axhline(value, color="red", lw=1, ls=style, label=f"{label} ({value:.3g})")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata=UNDATED.get(path.suffix.lower()))
    except OSError as error:
        raise UsageError(f"{path}: no figure can be written there: {error.strerror}") from error


def _axes(title: str) -> tuple[Any, Any]:
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise UsageError("drawing needs matplotlib: pip install 'tournament[plot]'") from None
    rcParams["svg.hashsalt"] = "tournament"
    figure = Figure(figsize=(6, 4), dpi=200, layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=title, xlabel="Sequential steps", ylabel="Social welfare")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _dots(rows: Sequence[dict[str, Any]], seat: int) -> tuple[list[int], list[float]]:
    """Where a seat's samples are; those that lie on each other but once."""
    points = {
        (row["step"], sample)
        for row in rows
        if row["seat"] == seat
        for sample in row["samples"] or ()
    }
    return [step for step, _ in sorted(points)], [sample for _, sample in sorted(points)]


def _means(rows: Sequence[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """Mean welfare by step; not a number at a step that is a gap in every chain.

    A chain that has ended stays at what it came to: or else the mean would fall as soon as the best are done.
    """
    length = max(row["step"] for row in rows) + 1
    chains = groupby(rows, key=lambda row: row["chain"])
    stretched = [_stretched([row["welfare"] for row in steps], length) for _, steps in chains]
    means = [
        fmean(seen) if (seen := [w for w in step if w is not None]) else math.nan
        for step in zip(*stretched, strict=True)
    ]
    return list(range(length)), means


def _stretched(welfare: list[float | None], length: int) -> list[float | None]:
    """A chain's welfare by step, and after its end the last that there was."""
    last = next((each for each in reversed(welfare) if each is not None), None)
    return welfare + [last] * (length - len(welfare))


def _bands(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Give every step as much room, and shade every other best-response segment, where all chains have the same."""
    axes.set_xlim(-0.5, max(row["step"] for row in rows) + 0.5)
    chains: dict[int, list[tuple[int, int, int]]] = {}
    for row in rows:
        chains.setdefault(row["chain"], []).append((row["step"], row["round"], row["seat"]))
    if len({tuple(steps) for steps in chains.values()}) != 1:
        return
    [steps, *_] = chains.values()
    for number, (_, segment) in enumerate(groupby(steps, key=lambda step: step[1:])):
        numbers = [step for step, _, _ in segment]
        if number % 2 == 0:
            axes.axvspan(numbers[0] - 0.5, numbers[-1] + 0.5, color="0.93", zorder=0)
