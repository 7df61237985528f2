"""Random modal formulas for tests, and the same formulas written as bots."""

import re
from collections.abc import Iterable

from hypothesis import strategies as st

from tournament.theory.modal import TIGHTNESS, Formula

PROGRAMS = {"CooperateBot": "always_cooperate", "DefectBot": "always_defect"}
"""The library's names for agents, where they are not the agent's name in snake case."""

WORDS = {
    "T": "true",
    "F": "false",
    "a": "me(them) == C",
    "b": "them(me) == C",
    "&&": "and",
    "||": "or",
}


def formulas(helpers: Iterable[str] = ()) -> st.SearchStrategy[Formula]:
    """A strategy for formulas about `a`, `b` and `them(X)` for every named helper X."""
    signs = ["T", "F", "a", "b", *(f"them({helper})" for helper in helpers)]
    atoms = st.sampled_from([Formula(sign) for sign in signs])
    return st.recursive(atoms, lambda inner: _joined(inner) | _boxed(inner), max_leaves=6)


def agent_formulas(helpers: Iterable[str] = ()) -> st.SearchStrategy[Formula]:
    """A strategy for formulas with every atom under a box. Without helpers these are agents of rank 0."""
    boxes = _boxed(formulas(helpers))
    constants = st.sampled_from([Formula("T"), Formula("F")])
    return st.recursive(constants | boxes | boxes | boxes, _joined, max_leaves=4)


def _joined(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    denied = st.builds(Formula, st.just("~"), st.tuples(inner))
    return denied | st.builds(Formula, st.sampled_from(sorted(TIGHTNESS)), st.tuples(inner, inner))


def _boxed(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    return st.builds(Formula, st.sampled_from(["[]", "<>"]), st.tuples(inner), st.integers(0, 2))


def python_bot(formula: Formula) -> str:
    """Return the source of a bot that plays C if the formula is true, and otherwise D.

    The outermost boxes become calls of `view.proves`, and the connectives between them become
    Python's `not`, `and` and `or`, so that a call is made only if the result still depends on it.
    """
    return f'def act(view):\n    return "C" if {_expression(formula)} else "D"\n'


def _expression(formula: Formula) -> str:
    if formula.sign == "[]":
        return f'view.proves("{statement(formula.parts[0])}"{_level(formula)})'
    parts = [_expression(part) for part in _without_diamond(formula).parts]
    match formula.sign:
        case "T" | "F":
            return str(formula.sign == "T")
        case "~" | "<>":
            return f"(not {parts[0]})"
        case "->":
            return f"(not {parts[0]} or {parts[1]})"
        case "<->":
            return f"({parts[0]} == {parts[1]})"
    return f"({parts[0]} {WORDS[formula.sign]} {parts[1]})"


def statement(formula: Formula) -> str:
    """Return the formula in the language of `view.proves`."""
    parts = [statement(part) for part in _without_diamond(formula).parts]
    match formula.sign:
        case "~" | "<>":
            return f"(not {parts[0]})"
        case "[]":
            return f"proves({parts[0]}{_level(formula)})"
    if parts:
        return f"({parts[0]} {WORDS.get(formula.sign, formula.sign)} {parts[1]})"
    return WORDS.get(formula.sign) or f"them({_program(formula.sign[5:-1])}) == C"


def _without_diamond(formula: Formula) -> Formula:
    """Return the formula, with `<k>p` written as `~[k]~p`."""
    if formula.sign != "<>":
        return formula
    return Formula("~", (Formula("[]", (Formula("~", formula.parts),), formula.level),))


def _level(formula: Formula) -> str:
    return f", level={formula.level}" if formula.level else ""


def _program(agent: str) -> str:
    snake = re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", agent).lower()
    return PROGRAMS.get(agent, snake)
