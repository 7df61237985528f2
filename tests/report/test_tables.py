"""Tables and JSON show every row, every column and every character."""

import contextlib
import io
import json
import math
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.report import tables
from tournament.report.text import counted, decimals, printable

words = st.text("abcdefgh", min_size=1, max_size=4)


def shown(
    capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]], *columns: str
) -> list[str]:
    tables.show(rows, columns or list(rows[0]))
    return [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]


def cells(bots: list[str], *others: str) -> list[dict[str, Any]]:
    return [
        {"bot": bot, "opponent": opponent, "payoff": float(n)}
        for n, bot in enumerate(bots)
        for opponent in (*bots, *others)
    ]


@given(st.lists(words, min_size=1, max_size=6, unique=True))
def test_a_matrix_is_square_with_a_numbered_column_for_every_row(bots: list[str]) -> None:
    rows, columns = tables.matrix(cells(bots), bots)
    numbers = [str(number) for number in range(len(bots))]
    assert columns == ["", "bot", *numbers]
    assert [(row[""], row["bot"]) for row in rows] == list(zip(numbers, bots, strict=True))
    assert all([row[number] for number in numbers] == [n] * len(bots) for n, row in enumerate(rows))


def test_a_matrix_has_gaps_for_unscored_pairs_and_a_column_for_each_opponent_without_a_row() -> (
    None
):
    rows, columns = tables.matrix(cells(["a"], "b, c", "a, b")[1:], ["a", "z"])
    assert columns == ["", "bot", "0", "1", "2", "3"]
    assert [row["0"] for row in rows] == [None, None]
    assert [row["2"] for row in rows] == [0.0, None]


def test_numbers_have_three_decimals_and_are_aligned_right_and_gaps_are_empty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [
        {"bot": "a", "score": 1.23456, "n": 7, "list": [1, 2.5, None]},
        {"bot": "bb", "score": None, "n": 123456, "list": []},
        {"bot": "c", "score": Decimal("2.50"), "n": None, "list": [[1]]},
    ]
    assert shown(capsys, rows) == [
        " bot   score        n   list",
        " ─────────────────────────────── ".rstrip(),
        " a     1.235        7   1 2.500",
        " bb            123456",
        " c      2.50            1",
    ]


@pytest.mark.parametrize(
    "name", ["[bold]x[/bold]", "[link=http://x]y", ":smile:", "[/]", "\\[a]", "日本"]
)
def test_markup_in_a_name_is_printed_literally(
    capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert shown(capsys, [{"name": name}])[-1].strip() == name
    assert shown(capsys, [], name)[0].strip() == name


def test_long_values_are_not_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    row = {f"column_{n}": f"value_{n}" * 3 for n in range(40)} | {"long": "x" * 500}
    text = "".join(shown(capsys, [row]))
    assert all(key in text and value in text for key, value in row.items())


@given(st.text())
def test_printable_text_has_no_control_characters_and_loses_nothing(text: str) -> None:
    safe = printable(text)
    assert all(c in "\n\t" or unicodedata.category(c)[0] != "C" for c in safe)
    assert printable(safe) == safe
    if text.isprintable():
        assert safe == text


def test_unprintable_characters_become_escapes() -> None:
    assert printable("a\x1b[31m\r\x00\u202e\ud800\x9bé") == r"a\x1b[31m\r\x00\u202e\ud800\x9bé"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_json_is_strict_and_keeps_every_value_except_infinite_and_nan_numbers(
    value: object,
) -> None:
    def finite(value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(value, dict):
            return {key: finite(each) for key, each in value.items()}
        return [finite(each) for each in value] if isinstance(value, list) else value

    with contextlib.redirect_stdout(io.StringIO()) as out:
        tables.show_json(value)
    text = out.getvalue()
    assert text.isascii()
    assert json.loads(text, parse_constant=pytest.fail) == finite(value)


@given(st.lists(words, max_size=8))
def test_columns_with_the_same_name_are_made_different(columns: list[str]) -> None:
    names = tables.distinct(columns)
    assert len(set(names)) == len(names) == len(columns)
    assert all(name.startswith(column) for name, column in zip(names, columns, strict=True))
    assert names[: len(set(columns[:1]))] == columns[:1]


def test_a_number_is_added_to_a_column_name_until_it_is_new() -> None:
    assert tables.distinct(["a", "a", "a_2", "a"]) == ["a", "a_2", "a_2_2", "a_3"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0.000"),
        (2.5, "2.500"),
        (0.0125, "0.013"),
        (0.0007, "0.00070"),
        (-0.000_012_3, "-0.000012"),
        (1e-17, "0.000"),
    ],
)
def test_a_small_number_is_shown_with_two_significant_digits(value: float, expected: str) -> None:
    assert tables.cell(value) == expected


def test_a_sum_of_dollars_is_never_rounded_to_zero() -> None:
    costs = (12.34567, 0.0123, 0.0007, 0.000_03)
    assert [decimals(cost, 4) for cost in costs] == ["12.3457", "0.0123", "0.00070", "0.000030"]


def test_a_count_of_one_is_singular_and_others_are_plural() -> None:
    expected = [counted(number, "match", "matches") for number in (0, 1, 2000)]
    assert expected == ["0 matches", "1 match", "2,000 matches"]
    assert [counted(number, "bot") for number in (1, 2)] == ["1 bot", "2 bots"]
