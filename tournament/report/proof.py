"""Print the verdict on a statement, and the table of moves at each world from which the verdict follows."""

import sys

from tournament.engine.prove import Answer
from tournament.report import tables


def show(statement: str, answer: Answer, worlds: bool, json: bool) -> None:
    """Print the verdict and, with `worlds`, what each program plays at each world; with `json`, print all of it."""
    if json:
        tables.show_json(_object(statement, answer))
        return
    sys.stdout.write(f"{statement}: {_verdict(answer)}\n")
    if worlds:
        _show_worlds(answer)


def _verdict(answer: Answer) -> str:
    if answer.bound:
        return f"not decided: {answer.bound}"
    return f"{'true' if answer.holds else 'false'}, {'provable' if answer.provable else 'not provable'}"


def _show_worlds(answer: Answer) -> None:
    pairs = list(dict.fromkeys(pair for world in answer.worlds for pair in world))
    heads = [f"{program}({against})" for program, against in pairs]
    rows = [
        {"world": number}
        | {h: world.get(pair) or "-" for h, pair in zip(heads, pairs, strict=True)}
        for number, world in enumerate(answer.worlds)
    ]
    tables.show(rows, ["world", *heads])
    sys.stdout.write("no answer changes from here on: the last row is what is really played\n")


def _object(statement: str, answer: Answer) -> dict[str, object]:
    worlds = [
        {f"{program}({against})": move for (program, against), move in world.items()}
        for world in answer.worlds
    ]
    return {
        "statement": statement,
        "holds": answer.holds,
        "provable": answer.provable,
        "bound": answer.bound or None,
        "worlds": worlds,
    }
