"""The figure of the PIBR paper: social welfare against sequential steps (arXiv 2512.21024, figure 1)."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tournament.errors import UsageError

COLOURS = ("tab:blue", "tab:orange", "tab:green", "tab:purple")
SUFFIXES = (".png", ".svg", ".pdf")


def plot_welfare(
    rows: Sequence[dict[str, Any]], optimum: float | None, title: str, path: Path
) -> None:
    """Draw the steps of a run's chains to a file, by its ending as PNG, SVG or PDF.

    `rows` are those of the view `growth`. Dots are the profiles' welfare after a step, in the colour of the seat that
    it was about; the line is their mean over chains, with gaps where no step brought a program that runs; bands are
    best-response segments. Raises `UsageError` for another ending, without steps, or without matplotlib.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path}: a figure ends in {', '.join(SUFFIXES)}")
    if not rows:
        raise UsageError("this run has grown nothing: see `tournament evolve --help`")
    axes, figure = _axes(title)
    _bands(axes, rows)
    for seat in sorted({row["seat"] for row in rows}):
        dots = [r for r in rows if r["seat"] == seat and r["welfare"] is not None]
        points = [r["step"] for r in dots], [r["welfare"] for r in dots]
        axes.scatter(*points, s=18, color=COLOURS[seat % 4], label=f"Seat {seat} samples", zorder=3)
    axes.plot(*_means(rows), "--", color="black", linewidth=1.2, label="Mean trajectory", zorder=2)
    if optimum is not None:
        axes.axhline(optimum, color="red", linewidth=1, label=f"Optimal ({optimum:g})", zorder=1)
    axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _axes(title: str) -> tuple[Any, Any]:
    try:
        import matplotlib
    except ImportError:
        raise UsageError("drawing needs matplotlib: pip install 'tournament[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6, 4), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    axes.set(title=title, xlabel="Sequential steps", ylabel="Social welfare")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    return axes, figure


def _means(rows: Sequence[dict[str, Any]]) -> tuple[list[int], list[float]]:
    """Mean welfare by step; not a number at a step that is a gap in every chain."""
    steps = list(range(max(row["step"] for row in rows) + 1))
    seen: dict[int, list[float]] = {step: [] for step in steps}
    for row in rows:
        if row["welfare"] is not None:
            seen[row["step"]].append(row["welfare"])
    return steps, [sum(v) / len(v) if v else float("nan") for v in seen.values()]


def _bands(axes: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Shade every other best-response segment, where all chains have the same."""
    chains: dict[str, list[tuple[int, int, int]]] = {}
    for row in rows:
        chains.setdefault(row["chain"], []).append((row["step"], row["round"], row["seat"]))
    if len({tuple(steps) for steps in chains.values()}) != 1:
        return
    [steps, *_] = chains.values()
    for number, (_, segment) in enumerate(groupby(steps, key=lambda step: step[1:])):
        numbers = [step for step, _, _ in segment]
        if number % 2 == 0:
            axes.axvspan(numbers[0] - 0.5, numbers[-1] + 0.5, color="0.93", zorder=0)
