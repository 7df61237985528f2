"""What growing came to."""

import sys
from typing import Any

from tournament.evolve.pibr import Best, best_welfare
from tournament.game import Setting
from tournament.report import tables


def show(setting: Setting, best: Best, run: int, json: bool) -> None:
    """Print the best profile: its welfare, and the programs by seat."""
    if json:
        tables.show_json(as_object(setting, best, run))
        return
    if best.profile is None:
        sys.stdout.write("no step brought a program that runs\n")
        return
    optimum = best_welfare(setting)
    ceiling = "" if optimum is None else f" (the most there is: {optimum:g})"
    sys.stdout.write(f"best welfare {best.welfare:g}{ceiling}, by\n")
    for seat, program in enumerate(best.profile):
        sys.stdout.write(f"  seat {seat}: {program.name} ({program.digest[:12]})\n")
    sys.stdout.write("print one with `tournament export NAME`, its history with `tournament lineage NAME`\n")


def as_object(setting: Setting, best: Best, run: int) -> dict[str, Any]:
    """The same as JSON-ready data."""
    return {
        "run": run,
        "game": setting.game.name,
        "welfare": None if best.profile is None else best.welfare,
        "optimum": best_welfare(setting),
        "programs": [
            {"seat": seat, "name": p.name, "digest": p.digest, "source": p.source}
            for seat, p in enumerate(best.profile or ())
        ],
    }
