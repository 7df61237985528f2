"""Statements: their meaning, and the errors for texts that cannot be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.errors import UsageError
from tournament.sandbox.statement import (
    FALSE,
    Constant,
    Joined,
    Not,
    Plays,
    Provable,
    Statement,
    StatementError,
    at_level,
    evaluate,
    parse,
    substitute,
)

NAMES = st.sampled_from(["me", "them", "fair_bot"])
ATOMS = st.builds(Constant, st.booleans()) | st.builds(
    Plays, NAMES, NAMES, st.sampled_from(["C", "D", "stag", "7"])
)
STATEMENTS = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(Provable, inner)
        | st.builds(Joined, st.sampled_from(["and", "or", "->", "<->"]), inner, inner)
    ),
    max_leaves=8,
)


def text_of(statement: Statement) -> str:
    """The statement as a bot would write it."""
    match statement:
        case Constant(value):
            return "true" if value else "false"
        case Plays(program, against, move):
            return f"{program}({against}) == {move}"
        case Not(body):
            return f"not {wrapped(body)}"
        case Joined(operator, left, right):
            return f"{wrapped(left)} {operator} {wrapped(right)}"
        case Provable(body):
            return f"proves({text_of(body)})"


def wrapped(statement: Statement) -> str:
    text = text_of(statement)
    return f"({text})" if isinstance(statement, Joined) else text


@given(STATEMENTS)
def test_a_statement_written_as_text_is_read_as_the_same_statement(statement: Statement) -> None:
    assert parse(text_of(statement)) == statement


def test_precedence_is_not_and_or_implication_equivalence() -> None:
    a, b = Plays("me", "them", "C"), Plays("them", "me", "C")
    text = "not me(them) == C and them(me) == C or true -> false <-> true"
    both = Joined("and", Not(a), b)
    implied = Joined("->", Joined("or", both, Constant(True)), FALSE)
    assert parse(text) == Joined("<->", implied, Constant(True))


def test_implication_groups_to_the_right() -> None:
    assert parse("true -> false -> true") == parse("true -> (false -> true)")


def test_a_move_may_be_quoted_and_compared_by_unequal() -> None:
    assert parse("them(me) == 'stag'") == parse('them(me) == "stag"') == parse("them(me) == stag")
    assert parse("them(me) != C") == Not(Plays("them", "me", "C"))


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 1, "a statement"),
        ("them(me) = C", 10, "'=='"),
        ("them(me) ==", 12, "a move"),
        ("them == C", 6, "'('"),
        ("(true", 6, "')'"),
        ("true true", 6, "an operator"),
        ("true @", 6, "a name"),
        ("proves(true, 99)", 14, "a level"),
        ("proves(true, ²)", 14, "a level"),
        (f"proves(true, {'9' * 5_000})", 14, "a level"),
        ("and", 1, "a statement"),
    ],
)
def test_an_error_says_where_it_is_and_what_was_expected(
    text: str, position: int, expected: str
) -> None:
    with pytest.raises(StatementError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"character {position}: expected ")
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "(" * 5_000, "not " * 2_000 + "true", "true -> " * 1_000 + "true"],
)
def test_a_statement_too_long_or_too_deep_is_refused(text: str) -> None:
    with pytest.raises(StatementError):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse(text)
    except StatementError as error:
        assert 1 <= error.position <= len(text) + 1


def test_a_level_adds_this_many_statements_of_consistency() -> None:
    assert at_level(Constant(True), 0) == Constant(True)
    assert text_of(at_level(Constant(True), 2)) == "not proves(proves(false)) -> true"
    assert parse("proves(true, level=1)") == Provable(at_level(Constant(True), 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("me(me) == C", None),
        ("not me(me) == C", None),
        ("me(me) == C or true", True),
        ("me(me) == C and true", None),
        ("me(me) == C and false", False),
        ("me(me) == C -> true", True),
        ("false -> me(me) == C", True),
        ("me(me) == C <-> me(me) == C", None),
        ("them(them) == C", True),
    ],
)
def test_a_statement_that_depends_on_a_program_without_a_move_is_unknown(
    text: str, value: bool | None
) -> None:
    def plays(atom: Plays) -> bool | None:
        return None if atom.program == "me" else True

    assert evaluate(parse(text), plays, lambda body: True) is value


def test_a_name_that_cannot_be_resolved_is_refused() -> None:
    def resolve(plays: Plays) -> Plays:
        raise UsageError(plays.program)

    with pytest.raises(UsageError, match="nobody"):
        substitute(parse("not proves(true and nobody(me) == C)"), resolve)
