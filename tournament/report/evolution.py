"""Print the results of evolving programs: the best profiles, and what the models cost."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tournament.evolve.optimum import mean_optimum, published_optimum
from tournament.game import Setting
from tournament.report import tables
from tournament.report.text import counted, decimals
from tournament.runs.evolution import Evolution

SPENDING = """
    select
        coalesce(sum(calls), 0)::bigint as calls,
        coalesce(sum(input_tokens), 0)::bigint as input_tokens,
        coalesce(sum(output_tokens), 0)::bigint as output_tokens,
        coalesce(sum(uncounted), 0)::bigint as uncounted,
        case when count(cost) = count(*) then round(coalesce(fsum(cost), 0), 9) end as cost
    from spending
    where run in ({runs})
"""
"""A query for the calls, tokens and dollars that models took in some runs. `runs` are numbers, joined by commas."""
HINT = "print one with `tournament export NAME`, its history with `tournament lineage NAME`"


@dataclass(frozen=True)
class EvolvedRun:
    """The results of evolving programs in one run, for one setting."""

    setting: Setting
    evolution: Evolution
    run: int


def show(grown: Sequence[EvolvedRun], spending: Mapping[str, Any], json: bool) -> None:
    """Print the best profile of each run (its welfare, and its programs by seat) and what the models took.

    `spending` is the row that answers `SPENDING`.
    """
    if json:
        objects = [as_object(each) for each in grown]
        told = objects[0] if len(objects) == 1 else {"games": objects}
        tables.show_json(told | {"spending": dict(spending)})
        return
    for each in grown:
        if len(grown) > 1:
            sys.stdout.write(f"{each.setting.game.name} (run {each.run}): ")
        _show_best(each)
    if any(each.evolution.best.profile for each in grown):
        sys.stdout.write(f"{HINT}\n")
    if spending["calls"]:
        sys.stdout.write(f"{spent(**spending)}\n")


def _show_best(grown: EvolvedRun) -> None:
    setting, evolution = grown.setting, grown.evolution
    best = evolution.best
    if best.profile is None:
        sys.stdout.write("no step brought a program that runs\n")
        return
    sys.stdout.write(f"best welfare {best.welfare:g}{_ceiling(mean_optimum(setting))}, by\n")
    for seat, program in enumerate(best.profile):
        sys.stdout.write(f"  seat {seat}: {program.name} ({program.digest[:12]})\n")
    if evolution.evaluation and evolution.evaluation.welfare is not None:
        count, welfare = len(evolution.evaluation.outcomes), evolution.evaluation.welfare
        ceiling = _ceiling(evolution.evaluation_optimum)
        matches = counted(count, "other match", "other matches")
        sys.stdout.write(f"in {matches}: welfare {welfare:g}{ceiling}\n")
    if (published := published_optimum(setting)) is not None:
        sys.stdout.write(
            f"the paper's figure has its optimum at {published:g}, by another account\n"
        )


def spent(
    calls: int, input_tokens: int, output_tokens: int, uncounted: int, cost: float | None
) -> str:
    """Return the row that answers `SPENDING` as a line of text."""
    least = "at least " if uncounted else ""
    tokens = f"{least}{input_tokens:,} + {output_tokens:,} tokens"
    unknown = f" (of {counted(uncounted, 'call')} not all are known)" if uncounted else ""
    price = "price unknown" if cost is None else f"{least}{decimals(cost, 4)} dollars"
    return f"{counted(calls, 'call')} to models: {tokens}{unknown}, {price}"


def _ceiling(optimum: float | None) -> str:
    """Return a remark on the optimal welfare, or an empty text if it is not known."""
    return "" if optimum is None else f" (the most there is: {optimum:.4g})"


def as_object(grown: EvolvedRun) -> dict[str, Any]:
    """Return the results of one run as JSON-ready data."""
    setting, evolution = grown.setting, grown.evolution
    best = evolution.best
    return {
        "run": grown.run,
        "game": setting.game.name,
        "welfare": None if best.profile is None else best.welfare,
        "optimum": mean_optimum(setting),
        "published_optimum": published_optimum(setting),
        "evaluation": _evaluation(evolution),
        "stopped": dict(sorted(evolution.stopped.items())),
        "programs": [
            {"seat": seat, "name": p.name, "digest": p.digest, "source": p.source}
            for seat, p in enumerate(best.profile or ())
        ],
    }


def _evaluation(evolution: Evolution) -> dict[str, Any] | None:
    found = evolution.evaluation
    if found is None:
        return None
    return {
        "matches": len(found.outcomes),
        "welfare": found.welfare,
        "optimum": evolution.evaluation_optimum,
        "payoffs": found.payoffs,
    }
