"""The figure of the PIBR paper: social welfare against sequential steps (arXiv 2512.21024, figure 1)."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from tournament.errors import UsageError

COLOURS = ("blue", "orange", "green", "purple", "brown", "pink", "olive", "cyan")
"""The colours of the samples, by seat."""
LINES = ("-", ":")
SUFFIXES = (".png", ".svg", ".pdf")
UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Metadata that leaves out the date, so that the same steps always give a file of the same bytes."""

STEPS = """
    select chain, step, round, seat, welfare, samples
    from steps
    where chain in ({chains})
    order by chain, step
"""


def plot_welfare(
    rows: Sequence[dict[str, Any]], lines: Mapping[str, float | None], title: str, path: Path
) -> None:
    """Draw the steps of chains to a file: PNG, SVG or PDF, according to its suffix.

    `rows` are the answer to `STEPS`. A dot is the welfare of one match after a step, in the colour of the step's seat.
    The dashed line is the mean welfare over chains (see `_means`). The bands are best-response segments. `lines` are
    optima by name, with None for one that is not known. Raises `UsageError` if the suffix is another one, if the file
    cannot be written, if there are no steps, or if matplotlib is not installed.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: the name of a figure must end in {', '.join(SUFFIXES)}")
    if not rows:
        raise UsageError("the chains have no steps yet, so there is nothing to draw")
    figure, axes = _axes(title)
    _bands(axes, rows)
    for seat in sorted({row["seat"] for row in rows}):
        colour, label = f"tab:{COLOURS[seat % len(COLOURS)]}", f"Seat {seat} samples"
        axes.scatter(*_dots(rows, seat), s=18, color=colour, label=label, zorder=3)
    # Every mean has a marker, because a line alone would not show a step between two gaps.
    axes.plot(*_means(rows), "k--D", lw=1.2, ms=3, label="Mean trajectory", zorder=4)
    for (label, value), style in zip(lines.items(), LINES, strict=False):
        if value is not None:
            axes.axhline(value, color="red", lw=1, ls=style, label=f"{label} ({value:.3g})")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8, frameon=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata=UNDATED.get(path.suffix.lower()))
    except OSError as error:
        raise UsageError(f"{path}: the figure cannot be written: {error.strerror}") from error


def _axes(title: str) -> tuple[Any, Any]:
    """Return an empty figure and its axes. Raises `UsageError` if matplotlib is not installed."""
    try:
        from matplotlib import rcParams
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise UsageError("drawing needs matplotlib: run pip install 'tournament[plot]'") from None
    rcParams["svg.hashsalt"] = "tournament"
    figure = Figure(figsize=(6, 4), dpi=200, layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=title, xlabel="Sequential steps", ylabel="Social welfare")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _dots(rows: Sequence[dict[str, Any]], seat: int) -> tuple[list[int], list[float]]:
    """Return the steps and the welfare of a seat's samples. Samples at the same point are given once."""
    points = {
        (row["step"], sample)
        for row in rows
        if row["seat"] == seat
        for sample in row["samples"] or ()
    }
    return [step for step, _ in sorted(points)], [sample for _, sample in sorted(points)]


def _means(rows: Sequence[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """Return the step numbers and the mean welfare over chains after each; NaN where every chain has a gap.

    A chain that has ended counts with its last welfare. Otherwise the mean would fall when the best chains end.
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
    """Return a chain's welfare by step, extended to `length` steps with its last known welfare."""
    last = next((each for each in reversed(welfare) if each is not None), None)
    return welfare + [last] * (length - len(welfare))


def _bands(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Make all steps equally wide, and shade every other best-response segment if all chains have the same segments."""
    axes.set_xlim(-0.5, max(row["step"] for row in rows) + 0.5)
    chains = [
        [(row["step"], row["round"], row["seat"]) for row in chain]
        for _, chain in groupby(rows, key=lambda row: row["chain"])
    ]
    if any(chain != chains[0] for chain in chains):
        return
    for number, (_, segment) in enumerate(groupby(chains[0], key=lambda step: step[1:])):
        numbers = [step for step, _, _ in segment]
        if number % 2 == 0:
            axes.axvspan(numbers[0] - 0.5, numbers[-1] + 0.5, color="0.93", zorder=0)
