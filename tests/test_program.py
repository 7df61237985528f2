"""Sources are only ever read as text, and their headers are found without running them."""

import hashlib
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tournament.errors import ProgramRefused
from tournament.game import MatrixGame, Repetition, Setting
from tournament.program import KINDS, MOST_BYTES, Program, check_text, read_program

TIT_FOR_TAT = '''"""Tit for tat: cooperate first, then repeat the opponent's last move.

Names: Tit For Tat (Rapoport 1980)
Plays: repeated
"""

def act(view):
    return view.theirs[-1] if view.theirs else "C"
'''


def program(docstring: str) -> Program:
    return Program("bot", f'"""{docstring}"""\n')


def plays(words: str) -> Program:
    return program(f"A bot.\n\nPlays: {words}\n")


def setting(name: str = "penalty", seats: int = 2, rounds: int = 1) -> Setting:
    game = MatrixGame(name, (("a",),) * seats, lambda joint: (1.0,) * seats, (1.0,) * seats)
    return Setting(game, Repetition(rounds=rounds))


def test_a_program_is_named_after_its_file_and_keeps_where_it_came_from(tmp_path: Path) -> None:
    file = tmp_path / "tit_for_tat.py"
    file.write_text(TIT_FOR_TAT)
    assert read_program(file) == Program("tit_for_tat", TIT_FOR_TAT, str(file))


def test_the_digest_is_that_of_the_source_alone() -> None:
    digest = hashlib.sha256(TIT_FOR_TAT.encode()).hexdigest()
    assert Program("a", TIT_FOR_TAT).digest == Program("b", TIT_FOR_TAT, "b.py").digest == digest


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProgramRefused, match="No such file"):
        read_program(tmp_path / "nobody.py")


@given(st.text(st.characters(codec="ascii", exclude_characters="\0")))
def test_line_ends_of_every_kind_give_one_source(text: str) -> None:
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    for end in ("\n", "\r\n", "\r"):
        assert check_text("bot.py", unix.replace("\n", end).encode()) == unix


def test_a_byte_order_mark_is_dropped() -> None:
    assert check_text("bot.py", b"\xef\xbb\xbfx = 1") == "x = 1"


def test_sources_that_look_equal_are_equal_after_unicode_normalisation() -> None:
    decomposed = unicodedata.normalize("NFD", "é = 1")
    assert check_text("bot.py", decomposed.encode()) == "é = 1"


def test_a_source_of_the_greatest_length_is_read_and_a_longer_one_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.py"
    file.write_bytes(b"#" * MOST_BYTES)
    assert len(read_program(file).source) == MOST_BYTES
    file.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(ProgramRefused, match=r"long\.py: is longer than 262,144 bytes$"):
        read_program(file)


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(ProgramRefused, match="is longer than"):
        read_program(Path("/dev/zero"))


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"x = 1\ny = '\xff'\n", "line 2 is not UTF-8: save the file as UTF-8"),
        (b"x = 1\n\n\0", "line 3 has a NUL character"),
        (b"x = 1\r\ny = 2\r\0", "line 3 has a NUL character"),
        (b"# form\x0cfeed\n\0", "line 2 has a NUL character"),
        (
            "x = 1\ny = '\u202e'".encode(),
            "line 2 has the invisible character RIGHT-TO-LEFT OVERRIDE",
        ),
        ("# \u2066".encode(), "line 1 has the invisible character LEFT-TO-RIGHT ISOLATE"),
        (b"\xed\xa0\x80", "line 1 is not UTF-8: save the file as UTF-8"),
        (b"#" * (MOST_BYTES + 1), "is longer than 262,144 bytes"),
    ],
)
def test_a_file_that_cannot_be_a_program_is_refused_with_its_line(raw: bytes, problem: str) -> None:
    with pytest.raises(ProgramRefused) as caught:
        check_text("bot.py", raw)
    assert str(caught.value) == f"bot.py: {problem}"
    assert (caught.value.file, caught.value.problem) == ("bot.py", problem)


@pytest.mark.parametrize(
    "name", ["bell\a.py", "escape\x1b[2J.py", "turn\u202e.py", "two\nlines.py"]
)
def test_a_file_name_with_control_characters_is_refused_and_shown_escaped(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.write_text("")
    with pytest.raises(ProgramRefused, match="unprintable characters in its name") as caught:
        read_program(file)
    assert str(caught.value).isprintable()


@given(st.binary(max_size=200))
def test_any_bytes_are_either_a_source_or_refused(raw: bytes) -> None:
    try:
        source = check_text("bot.py", raw)
    except ProgramRefused:
        return
    assert "\0" not in source
    assert "\r" not in source
    assert check_text("bot.py", source.encode()) == source


@pytest.mark.parametrize(
    ("source", "docstring"),
    [
        ('"""One."""', "One."),
        ("'''One.'''", "One."),
        ('"One."', "One."),
        ("'One.'", "One."),
        ('r"""One."""', "One."),
        ('# a licence\n\n# and more\n"""One."""', "One."),
        ('\n\n"""\nOne.\n\nTwo.\n"""', "One.\n\nTwo."),
        ('""""""', ""),
        ('"""One.', ""),
        ('x = 1\n"""One."""', ""),
        ("def act(view):\n    '''One.'''", ""),
        ("", ""),
        ("#", ""),
    ],
)
def test_the_docstring_is_the_string_that_the_file_opens_with(source: str, docstring: str) -> None:
    assert Program("bot", source).docstring == docstring


def test_the_summary_is_the_first_line_of_the_docstring() -> None:
    summary = "Tit for tat: cooperate first, then repeat the opponent's last move."
    assert Program("tit_for_tat", TIT_FOR_TAT).summary == summary
    assert Program("silent", "").summary == ""


@pytest.mark.parametrize(
    "source",
    [
        "#" * MOST_BYTES,
        "#\n" * (MOST_BYTES // 2),
        " " * MOST_BYTES,
        '"""' + "\n" * MOST_BYTES,
        '"""' + " " * (MOST_BYTES - 6) + '"""',
        '"""Plays:' + "\n a" * (MOST_BYTES // 4) + '"""',
    ],
    ids=["hashes", "comments", "spaces", "open", "blank", "continued"],
)
def test_the_header_of_any_source_is_found_in_short_time(source: str) -> None:
    start = time.process_time()
    hostile = Program("hostile", source)
    assert hostile.plays is not None
    assert time.process_time() - start < 2


def test_a_header_is_found_by_its_name_and_continues_on_lines_that_are_indented_more() -> None:
    bot = program("A bot.\n\nNames: One (A 1980),\n    Two (B 1981)\nPlays: chicken\n\nNot: this")
    assert bot.header("Names") == "One (A 1980), Two (B 1981)"
    assert bot.header("Plays") == "chicken"
    assert bot.header("Absent") == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("chicken", ("chicken",)),
        ("chicken, repeated", ("chicken", "repeated")),
        ("chicken\n    repeated,", ("chicken", "repeated")),
        ("", ()),
    ],
)
def test_plays_lists_words_between_commas_and_spaces(words: str, expected: tuple[str]) -> None:
    assert plays(words).plays == expected


def test_a_bot_without_a_header_fits_every_setting() -> None:
    assert program("A bot.").fits(setting())
    assert Program("bot", "").fits(setting(seats=3, rounds=10))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("penalty", True),
        ("chicken", False),
        ("chicken, penalty", True),
        ("two-seat", True),
        ("many-seat", False),
        ("one-shot, common-payoff", True),
        ("one-shot, zero-sum", False),
        ("penalty, repeated", False),
        ("chicken, one-shot", False),
    ],
)
def test_a_bot_fits_one_of_its_games_and_all_of_its_kinds(words: str, expected: bool) -> None:
    assert plays(words).fits(setting()) is expected


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("seats", [2, 3])
def test_every_kind_of_a_setting_is_a_word_that_a_header_may_use(seats: int, rounds: int) -> None:
    assert setting(seats=seats, rounds=rounds).kinds <= set(KINDS)
