"""Print the results of evolving programs: the best profiles, and what the models cost."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tournament.evolve.optimum import mean_optimum, published_optimum
from tournament.game import Setting
from tournament.report import tables
from tournament.report.text import counted, decimals
from tournament.runs.evolution import Evolution
from tournament.runs.session import Session

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
"""Selects the calls, tokens and dollars that models took in some runs. `runs` are numbers, joined by commas."""
HINT = (
    "print a program with `tournament export NAME`, and its history with `tournament lineage NAME`"
)


def show(sessions: Sequence[Session], spending: Mapping[str, Any], json: bool) -> None:
    """Print the best profile of each session (its welfare, and its programs by seat) and what the models took.

    `spending` is the row that answers `SPENDING`.
    """
    evolved = [(each, each.evolution) for each in sessions if each.evolution]
    if json:
        objects = [_object(session, evolution) for session, evolution in evolved]
        result = objects[0] if len(objects) == 1 else {"games": objects}
        tables.show_json(result | {"spending": dict(spending)})
        return
    lines = []
    for session, evolution in evolved:
        setting = session.contest.setting
        head = f"{setting.game.name} (run {session.run}): " if len(evolved) > 1 else ""
        first, *others = _best_lines(setting, evolution)
        lines += [head + first, *others]
    if any(evolution.best.profile for _, evolution in evolved):
        lines.append(HINT)
    if spending["calls"]:
        lines.append(spending_text(**spending))
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _best_lines(setting: Setting, evolution: Evolution) -> list[str]:
    """Return the lines that describe the best profile of an evolution."""
    best, measured = evolution.best, evolution.evaluation
    if best.profile is None:
        return ["no step produced a program that runs"]
    lines = [f"best welfare {best.welfare:g}{_optimum(mean_optimum(setting))}, reached by"]
    for seat, program in enumerate(best.profile):
        lines.append(f"  seat {seat}: {program.name} ({program.digest[:12]})")
    if measured and measured.welfare is not None:
        matches = counted(len(measured.outcomes), "new match", "new matches")
        optimum = _optimum(evolution.evaluation_optimum)
        lines.append(f"in {matches}: welfare {measured.welfare:g}{optimum}")
    if (published := published_optimum(setting)) is not None:
        lines.append(f"the figure in the paper counts differently: its optimum is {published:g}")
    return lines


def spending_text(
    calls: int, input_tokens: int, output_tokens: int, uncounted: int, cost: float | None
) -> str:
    """Return the row that answers `SPENDING` as a line of text."""
    least = "at least " if uncounted else ""
    tokens = f"{least}{input_tokens:,} input tokens and {output_tokens:,} output tokens"
    unknown = f" (not all known for {counted(uncounted, 'call')})" if uncounted else ""
    price = "price unknown" if cost is None else f"{least}{decimals(cost, 4)} dollars"
    return f"{counted(calls, 'call')} to models: {tokens}{unknown}, {price}"


def _optimum(optimum: float | None) -> str:
    """Return a remark on the optimal welfare, or an empty text if it is not known."""
    return "" if optimum is None else f" (optimum: {optimum:.4g})"


def _object(session: Session, evolution: Evolution) -> dict[str, Any]:
    """Return the results of one session as JSON-ready data."""
    setting, best, measured = session.contest.setting, evolution.best, evolution.evaluation
    return {
        "run": session.run,
        "game": setting.game.name,
        "welfare": None if best.profile is None else best.welfare,
        "optimum": mean_optimum(setting),
        "published_optimum": published_optimum(setting),
        "evaluation": measured
        and {
            "matches": len(measured.outcomes),
            "welfare": measured.welfare,
            "optimum": evolution.evaluation_optimum,
            "payoffs": measured.payoffs,
        },
        "stopped": dict(sorted(evolution.stopped.items())),
        "programs": [
            {"seat": seat, "name": p.name, "digest": p.digest, "source": p.source}
            for seat, p in enumerate(best.profile or ())
        ],
    }
