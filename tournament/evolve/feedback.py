"""Describes a program in words for prompts: its faults in tests, its mean payoffs, and how its matches went."""

import bisect
import itertools
from collections.abc import Iterator, Sequence

from tournament.evolve.evaluate import Evaluation, Evaluator
from tournament.evolve.response import Task
from tournament.match import Fault, Outcome

MOST_FAULTS = 4
MOST_TRACE = 1_000
"""The most characters of a fault's message, and the most of its traceback."""
MOST_ROLLOUTS = 3
MOST_CHARACTERS = 3_000
"""The most characters for all matches together, about a thousand tokens: enough for a few matches round by round."""


def describe_faults(faults: Sequence[Fault]) -> str:
    """Return a text about the first few faults, each with the end of the bot's own traceback."""
    texts = []
    for fault in faults[:MOST_FAULTS]:
        head = f"{fault.kind} in round {fault.round + 1}, seat {fault.seat}: {fault.message}"
        texts.append(f"{head[:MOST_TRACE]}\n{fault.traceback[-MOST_TRACE:]}".rstrip())
    return "\n\n".join(texts).encode("utf-8", "backslashreplace").decode()


def describe_payoffs(evaluation: Evaluation | None, seat: int) -> str:
    """Return a sentence with the mean payoff of the seat and of all seats together, or that a rule was broken."""
    if evaluation is None or evaluation.payoffs is None:
        return "Rules are broken, so nothing can be said of what the program is worth."
    own, total = evaluation.payoffs[seat], sum(evaluation.payoffs)
    matches = "1 match" if len(evaluation.outcomes) == 1 else f"{len(evaluation.outcomes)} matches"
    return f"Over {matches}: {own:g} for your seat, {total:g} for all seats together, on average."


def describe_matches(task: Task, evaluator: Evaluator) -> str:
    """Return a text about the worst, the middle and the best match, round by round, shortened to fit into a prompt."""
    evaluation = task.feedback.evaluation
    if evaluation is None:
        return ""
    chosen = _informative(evaluation.outcomes)
    share = MOST_CHARACTERS // max(1, len(chosen))
    return "\n\n".join(
        "\n".join(_cut([*_describe_match(task, outcome, evaluator)], share)) for outcome in chosen
    )


def _informative(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the worst, the middle and the best match by total payoff; matches with more faults count as worse.

    Of several matches with the same moves and payoffs only one is considered.
    """
    unique = list({(o.moves, o.payoffs): o for o in reversed(outcomes)}.values())
    ranked = sorted(unique, key=lambda o: (-len(o.faults), sum(p or 0 for p in o.payoffs)))
    if len(ranked) <= MOST_ROLLOUTS:
        return ranked
    return [ranked[0], ranked[len(ranked) // 2], ranked[-1]]


def _cut(lines: list[str], most: int) -> list[str]:
    """Return the lines without those in the middle if all of them together have more than `most` characters."""
    if sum(map(len, lines)) + len(lines) <= most:
        return lines
    head, tail = _fitting(lines, most // 2), _fitting(lines[::-1], most // 2)
    left_out = len(lines) - len(head) - len(tail)
    return [*head, f"... ({left_out} rounds left out)", *tail[::-1]]


def _fitting(lines: list[str], most: int) -> list[str]:
    """Return as many of the first lines as have at most `most` characters together."""
    sizes = itertools.accumulate(len(line) + 1 for line in lines)
    return lines[: bisect.bisect(list(sizes), most)]


def _describe_match(task: Task, outcome: Outcome, evaluator: Evaluator) -> Iterator[str]:
    """Yield the lines about one match: its payoffs, then every round, then its faults."""
    payoffs = _listed(outcome.payoffs)
    yield f"match {outcome.fixture.repetition + 1}: payoffs by seat {payoffs}"
    names = task.setting.game.moves
    for number, (joint, pays, seen) in enumerate(evaluator.rounds(outcome, task.seat), 1):
        moves = ", ".join(str(names[seat][move]) for seat, move in enumerate(joint))
        where = f" in {seen}" if seen is not None else ""
        yield f"round {number}: {moves}{where}, paid {_listed(pays)}"
    for fault in outcome.faults:
        yield f"seat {fault.seat} broke a rule in round {fault.round + 1}: {fault.kind}"


def _listed(payoffs: Sequence[float | None]) -> str:
    return ", ".join("none" if paid is None else f"{paid:g}" for paid in payoffs)
