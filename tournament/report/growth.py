"""What growing came to."""

import sys
from typing import Any

from tournament.evolve.optimum import mean_optimum, published_optimum
from tournament.game import Setting
from tournament.grow import Growth
from tournament.report import tables


def show(setting: Setting, growth: Growth, run: int, json: bool) -> None:
    """Print the best profile: its welfare, and the programs by seat."""
    if json:
        tables.show_json(as_object(setting, growth, run))
        return
    best = growth.best
    if best.profile is None:
        sys.stdout.write("no step brought a program that runs\n")
        return
    sys.stdout.write(f"best welfare {best.welfare:g}{_ceiling(mean_optimum(setting))}, by\n")
    for seat, program in enumerate(best.profile):
        sys.stdout.write(f"  seat {seat}: {program.name} ({program.digest[:12]})\n")
    if growth.evaluation and growth.evaluation.welfare is not None:
        count, welfare = len(growth.evaluation.outcomes), growth.evaluation.welfare
        ceiling = _ceiling(growth.evaluation_optimum)
        sys.stdout.write(f"in {count} other matches: welfare {welfare:g}{ceiling}\n")
    if (published := published_optimum(setting)) is not None:
        sys.stdout.write(
            f"the paper's figure has its optimum at {published:g}, by another account\n"
        )
    sys.stdout.write(
        "print one with `tournament export NAME`, its history with `tournament lineage NAME`\n"
    )


def _ceiling(optimum: float | None) -> str:
    return "" if optimum is None else f" (the most there is: {optimum:.4g})"


def as_object(setting: Setting, growth: Growth, run: int) -> dict[str, Any]:
    """The same as JSON-ready data."""
    best = growth.best
    return {
        "run": run,
        "game": setting.game.name,
        "welfare": None if best.profile is None else best.welfare,
        "optimum": mean_optimum(setting),
        "published_optimum": published_optimum(setting),
        "evaluation": _evaluation(growth),
        "stopped": dict(sorted(growth.stopped.items())),
        "programs": [
            {"seat": seat, "name": p.name, "digest": p.digest, "source": p.source}
            for seat, p in enumerate(best.profile or ())
        ],
    }


def _evaluation(growth: Growth) -> dict[str, Any] | None:
    found = growth.evaluation
    if found is None:
        return None
    return {
        "matches": len(found.outcomes),
        "welfare": found.welfare,
        "optimum": growth.evaluation_optimum,
        "payoffs": found.payoffs,
    }
