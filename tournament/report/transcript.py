"""Print matches round by round with their payoffs and faults, and what replays, checks and proofs found."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tournament.engine.prove import Answer
from tournament.game import Setting, index
from tournament.match import Fault, Outcome
from tournament.report import tables
from tournament.report.text import counted, printable

if TYPE_CHECKING:
    from tournament.runs.check import Report
    from tournament.runs.replay import Replay


def joint_moves(setting: Setting, moves: Sequence[str]) -> list[list[Any]]:
    """Return recorded moves as moves of the game: a list for each round, with one move for each seat."""
    return [
        [setting.game.moves[seat][index(character)] for seat, character in enumerate(joint)]
        for joint in zip(*moves, strict=True)
    ]


def as_object(setting: Setting, bots: Sequence[str], outcome: Outcome) -> dict[str, Any]:
    """Return the match as JSON-ready data. `bots` are names by seat."""
    return {
        "game": setting.game.name,
        "bots": list(bots),
        "rounds": outcome.rounds,
        "moves": joint_moves(setting, outcome.moves),
        "intended": outcome.intended and joint_moves(setting, outcome.intended),
        "payoffs": list(outcome.payoffs),
        "faults": [{"bot": bots[each.seat]} | vars(each) for each in outcome.faults],
        "fuel": list(outcome.fuel),
        "notes": [
            {"bot": bots[seat], "seat": seat, "round": number, "note": note}
            for seat, number, note in outcome.notes
        ],
    }


def show(setting: Setting, bots: Sequence[str], outcome: Outcome, json: bool) -> None:
    """Print a match. `bots` are names by seat."""
    if json:
        tables.show_json(as_object(setting, bots, outcome))
        return
    heads = [f"{seat}: {bot}" for seat, bot in enumerate(bots)]
    rows: list[dict[str, Any]] = [
        {"round": number} | dict(zip(heads, map(str, joint), strict=True))
        for number, joint in enumerate(joint_moves(setting, outcome.moves), 1)
    ]
    paid = ["" if payoff is None else f"{payoff:g}" for payoff in outcome.payoffs]
    rows.append({"round": "payoff"} | dict(zip(heads, paid, strict=True)))
    tables.show(rows, ["round", *heads])
    for seat, number, note in outcome.notes:
        sys.stdout.write(f"{bots[seat]} in round {number + 1}: {note}\n")
    for fault in outcome.faults:
        sys.stdout.write(f"{fault_text(bots[fault.seat], fault)}\n")


def fault_text(bot: str, fault: Fault) -> str:
    """Return a fault as text, with the bot's traceback (at most 40 lines) and what it had printed (at most 20)."""
    where = "while loading" if fault.kind == "load" else f"in round {fault.round + 1}"
    lines = [f"{bot}: {fault.kind} {where}: {fault.message}"]
    lines += [f"    {line}" for line in fault.traceback.splitlines()[:40]]
    if fault.output:
        lines += ["  printed before:", *(f"    {line}" for line in fault.output.splitlines()[:20])]
    return printable("\n".join(lines))


def show_replay(replay: "Replay", json: bool) -> None:
    """Print whether the replay of a match had the same result; if it had not, print the match as it is now."""
    recorded = replay.recorded
    names = [recorded.programs[digest].name for digest in recorded.outcome.fixture.lineup]
    if json:
        now = as_object(replay.setting, names, replay.outcome)
        verdict = {"match": recorded.match, "identical": replay.identical}
        tables.show_json(verdict | {"same_image": replay.same_image, "now": now})
        return
    result = "identical" if replay.identical else "DIFFERENT; now:"
    sys.stdout.write(f"match {recorded.match} ({' v '.join(names)}): {result}\n")
    if not replay.identical:
        show(replay.setting, names, replay.outcome, json=False)
    if not replay.same_image:
        sys.stdout.write("(the match was recorded with another sandbox image)\n")


def show_reports(reports: Sequence["Report"], json: bool) -> None:
    """Print what the check of bots found: the faults of each file, or one line for a file without faults."""
    if json:
        tables.show_json([*map(_report_object, reports)])
        return
    lines = [line for report in reports for line in _report_lines(report)]
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))


def _report_lines(report: "Report") -> list[str]:
    name = report.program.path or report.program.name
    if report.problem:
        return [f"{name}: {report.problem}"]
    if not report.findings:
        fuel = f"at most {report.fuel / 1e6:.1f} million fuel per move"
        return [f"{name}: ok ({counted(report.matches, 'match', 'matches')}, {fuel})"]
    return [
        f"{name}: {finding.game}, {finding.play}: {fault_text(report.program.name, finding.fault)}"
        for finding in report.findings
    ]


def _report_object(report: "Report") -> dict[str, Any]:
    """Return a report as JSON-ready data."""
    return {
        "file": report.program.path,
        "ok": report.ok,
        "problem": report.problem,
        "matches": report.matches,
        "fuel": report.fuel,
        "findings": [
            {"game": each.game, "play": each.play} | vars(each.fault) for each in report.findings
        ],
    }


def show_proof(statement: str, answer: Answer, worlds: bool, json: bool) -> None:
    """Print the verdict and, with `worlds`, what each program plays at each world; with `json`, print all of it."""
    moves = [
        {f"{program}({against})": move for (program, against), move in world.items()}
        for world in answer.worlds
    ]
    if json:
        verdict = {"statement": statement, "holds": answer.holds, "provable": answer.provable}
        tables.show_json(verdict | {"bound": answer.bound or None, "worlds": moves})
        return
    text = f"{'true' if answer.holds else 'false'}, {'' if answer.provable else 'not '}provable"
    text = f"not decided: {answer.bound}" if answer.bound else text
    sys.stdout.write(f"{statement}: {text}\n")
    if worlds:
        heads = list(dict.fromkeys(head for world in moves for head in world))
        rows = [
            {"world": number} | {head: world.get(head) or "-" for head in heads}
            for number, world in enumerate(moves)
        ]
        tables.show(rows, ["world", *heads])
        sys.stdout.write("no answer changes after the last world, which is what is really played\n")
