"""What checking bots found, in words."""

import sys
from collections.abc import Sequence
from typing import Any

from tournament.check import Report
from tournament.errors import ProgramRefused
from tournament.report import tables
from tournament.report.transcript import fault_text


def show(reports: Sequence[Report], refused: Sequence[ProgramRefused], json: bool) -> None:
    """Print a line for each file, and under it its faults."""
    if json:
        tables.show_json([*map(_refusal, refused), *map(_object, reports)])
        return
    for error in refused:
        sys.stdout.write(f"{error}\n")
    for report in reports:
        sys.stdout.write("".join(_lines(report)))


def _lines(report: Report) -> list[str]:
    name = report.program.path or report.program.name
    if not report.findings:
        share = f"{report.fuel / 1e6:.1f} million fuel a move"
        return [f"{name}: ok ({report.matches} matches, at most {share})\n"]
    return [
        f"{name}: {finding.game}, {finding.play}: {fault_text(report.program.name, finding.fault)}"
        for finding in report.findings
    ]


def _refusal(error: ProgramRefused) -> dict[str, Any]:
    return {"file": error.file, "ok": False, "problem": error.problem, "findings": []}


def _object(report: Report) -> dict[str, Any]:
    findings = [
        {"game": each.game, "play": each.play} | vars(each.fault) for each in report.findings
    ]
    return {
        "file": report.program.path,
        "ok": not findings,
        "matches": report.matches,
        "fuel": report.fuel,
        "findings": findings,
    }
