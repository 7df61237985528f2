"""Print what the check of bots found."""

import sys
from collections.abc import Sequence
from typing import Any

from tournament.errors import ProgramRefused
from tournament.report import tables
from tournament.report.text import counted, printable
from tournament.report.transcript import fault_text
from tournament.runs.check import Report


def show(reports: Sequence[Report], refused: Sequence[ProgramRefused], json: bool) -> None:
    """Print the faults of each file, or one line for a file without faults; with `json`, print a list of objects.

    `refused` are the errors of files that cannot be programs. They are printed first.
    """
    if json:
        tables.show_json([*map(_refusal, refused), *map(_object, reports)])
        return
    lines = [str(error) for error in refused]
    lines += [line for report in reports for line in _lines(report)]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


def _lines(report: Report) -> list[str]:
    name = report.program.path or report.program.name
    if report.problem:
        return [f"{name}: {report.problem}"]
    if not report.findings:
        share = f"{report.fuel / 1e6:.1f} million fuel a move"
        return [f"{name}: ok ({counted(report.matches, 'match', 'matches')}, at most {share})"]
    return [
        f"{name}: {finding.game}, {finding.play}: {fault_text(report.program.name, finding.fault)}"
        for finding in report.findings
    ]


def _refusal(error: ProgramRefused) -> dict[str, Any]:
    """Return a file that cannot be a program as JSON-ready data, with the same keys as a report."""
    return {
        "file": error.file,
        "ok": False,
        "problem": error.problem,
        "matches": 0,
        "fuel": 0,
        "findings": [],
    }


def _object(report: Report) -> dict[str, Any]:
    """Return the report as JSON-ready data."""
    findings = [
        {"game": each.game, "play": each.play} | vars(each.fault) for each in report.findings
    ]
    return {
        "file": report.program.path,
        "ok": report.ok,
        "problem": report.problem,
        "matches": report.matches,
        "fuel": report.fuel,
        "findings": findings,
    }
