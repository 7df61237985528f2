"""What is told of a program, in words: traces of failed tests, what it is worth, and how its matches went."""

from collections.abc import Iterator, Sequence

from tournament.evolve.evaluate import Evaluation, Evaluator
from tournament.evolve.response import Task
from tournament.game import Setting, StateGame, index
from tournament.match import Fault, Outcome

MOST_FAULTS = 4
MOST_ROLLOUTS = 3
MOST_CHARACTERS = 3_000
"""About a thousand tokens for rollouts: enough for a few matches, told round by round."""


def told_faults(faults: Sequence[Fault]) -> str:
    """The first few faults, each with the bot's own traceback."""
    return "\n\n".join(_told_fault(fault) for fault in faults[:MOST_FAULTS])


def _told_fault(fault: Fault) -> str:
    head = f"{fault.kind} in round {fault.round + 1}: {fault.message}"
    return f"{head}\n{fault.traceback}" if fault.traceback else head


def told_utility(evaluation: Evaluation | None, seat: int) -> str:
    """Mean payoffs of the profile."""
    if evaluation is None or evaluation.payoffs is None:
        return "The program breaks rules, so nothing can be said of its worth."
    own, total = evaluation.payoffs[seat], sum(evaluation.payoffs)
    count = len(evaluation.outcomes)
    return f"Over {count} matches: {own:g} for your seat, {total:g} for all seats together, on average."


def told_rollouts(task: Task, evaluator: Evaluator) -> str:
    """The worst match, the best, and one between, round by round, cut to a length that a prompt can bear."""
    evaluation = task.feedback.evaluation
    if evaluation is None:
        return ""
    share = MOST_CHARACTERS // MOST_ROLLOUTS
    told = []
    for outcome in _informative(evaluation.outcomes):
        lines = list(_told_match(task.setting, outcome, evaluator))
        text = "\n".join(lines)
        told.append(text if len(text) <= share else f"{text[: share - 4]}\n...")
    return "\n\n".join(told)


def _informative(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Worst, best and middle by total payoff, matches with faults first; matches that went the same but once."""
    unique = list({(o.moves, o.payoffs): o for o in outcomes}.values())
    ranked = sorted(unique, key=lambda o: sum(p or 0 for p in o.payoffs) - 1e9 * len(o.faults))
    if len(ranked) <= MOST_ROLLOUTS:
        return ranked
    return [ranked[0], ranked[len(ranked) // 2], ranked[-1]]


def _told_match(setting: Setting, outcome: Outcome, evaluator: Evaluator) -> Iterator[str]:
    paid = ", ".join("none" if p is None else f"{p:g}" for p in outcome.payoffs)
    yield f"match {outcome.fixture.repetition + 1}: payoffs by seat {paid}"
    names = setting.game.moves
    states = evaluator.states(outcome) if isinstance(setting.game, StateGame) else None
    for number, joint in enumerate(zip(*outcome.moves, strict=True)):
        moves = ", ".join(str(names[seat][index(c)]) for seat, c in enumerate(joint))
        seen = f" in {states[number]}" if states else ""
        yield f"round {number + 1}: {moves}{seen}"
    for fault in outcome.faults:
        yield f"seat {fault.seat} broke a rule in round {fault.round + 1}: {fault.message}"
