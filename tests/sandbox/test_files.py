"""Files as people submit them, from the disk to a move. `test_program.py` tests which files are refused unread."""

from pathlib import Path

import pytest

from tests.batches import batch_of, fault_of
from tournament.engine.play import play
from tournament.match import Fault
from tournament.program import read_program
from tournament.sandbox.instance import Image


def read(folder: Path, raw: bytes, name: str = "bot.py") -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(raw)
    return read_program(folder / name).source


def fault(sandbox: Image, folder: Path, raw: bytes) -> Fault | None:
    return fault_of(sandbox, read(folder, raw))


@pytest.mark.parametrize(
    "raw",
    [
        b"def act(view):\n    return 'C'\n",
        b"def act(view):\n    return 'C'",
        b"def act(view):\r\n    return 'C'\r\n",
        b"def act(view):\r    return 'C'\r",
        b"\xef\xbb\xbfdef act(view):\n    return 'C'\n",
        b"\xef\xbb\xbf\r\n\r\ndef act(view):\r\n\treturn 'C'\r\n\x0c\r\n",
        b"#!/usr/bin/env python3\n# -*- coding: latin-1 -*-\ndef act(view): return 'C'\n",
        b"from __future__ import annotations\n\ndef act(view: View) -> {Move}:\n    return 'C'\n",
        "def act(view):\n    é = 'C'\n    return e\u0301\n".encode(),
        "def act(view):\n    return {'♥': 'C'}['♥']\n".encode(),
        b"def act(view):\n    return 'C' # " + b"x" * 200_000,
        b"class Bot:\n    def act(self, view):\n        return 'C'\n",
        b"class Bot:\n    @staticmethod\n    def act(view):\n        return 'C'\n",
        b"if True:\n    def act(view):\n        return 'C'\n",
    ],
    ids=[
        "plain", "no last line end", "CRLF", "CR", "BOM", "BOM, CRLF, tab and form feed", "coding",
        "future", "composed and decomposed", "not ASCII", "a long line", "Bot", "static", "nested",
    ],
)  # fmt: skip
def test_a_bot_may_be_saved_in_any_usual_form(sandbox: Image, tmp_path: Path, raw: bytes) -> None:
    assert fault(sandbox, tmp_path, raw) is None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "NameError: the program defines neither a function act(view) nor a class Bot"),
        (b"\n\n", "NameError: the program defines neither a function act(view) nor a class Bot"),
        (b"# act", "NameError: the program defines neither a function act(view) nor a class Bot"),
        (b"def act(view:\n", "SyntaxError: '(' was never closed"),
        (b"def act(view):\nreturn 1", "IndentationError: expected an indented block after"),
        (b"def act(view):\n\treturn 1\n        return 2", "TabError: inconsistent use of tabs"),
        (b"return 'C'", "SyntaxError: 'return' outside function"),
        (b"{1}\nreturn 'C'", "SyntaxError: 'return' outside function"),
        (b"x = 1\x1a", "SyntaxError: invalid non-printable character U+001A"),
        (b"print 'C'", "SyntaxError: Missing parentheses in call to 'print'"),
        (b"x = " + b"9" * 5_000, "SyntaxError: Exceeds the limit (4300 digits)"),
        (b"import numpy", "ModuleNotFoundError: No module named 'numpy'"),
    ],
)
def test_a_file_that_is_not_a_bot_has_a_load_fault_with_the_reason(
    sandbox: Image, tmp_path: Path, raw: bytes, message: str
) -> None:
    found = fault(sandbox, tmp_path, raw)
    assert found is not None
    assert (found.kind, found.round) == ("load", 0)
    assert found.message.startswith(message)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_traceback_names_the_lines_of_the_file(
    sandbox: Image, tmp_path: Path, end: bytes
) -> None:
    lines = [b"\xef\xbb\xbf'''A bot.'''", b"", b"def act(view):", b"    return helper({1})", b""]
    lines += [b"def helper(items):", b"    return [item / 0 for item in items]", b""]
    found = fault(sandbox, tmp_path, end.join(lines))
    assert found is not None
    assert found.traceback == (
        '  File "bot.py", line 4, in act\n    return helper({1})\n'
        '  File "bot.py", line 7, in helper\n    return [item / 0 for item in items]\n'
        "ZeroDivisionError: division by zero"
    )


def test_a_syntax_error_shows_its_line(sandbox: Image, tmp_path: Path) -> None:
    found = fault(sandbox, tmp_path, b"x = 1\n\ndef act(view):\n    return 'C' 'D' 5\n")
    assert found is not None
    assert 'File "bot.py", line 4' in found.traceback
    assert "return 'C' 'D' 5" in found.traceback
    assert "^" in found.traceback


def test_a_file_with_act_and_bot_uses_the_function_act(sandbox: Image, tmp_path: Path) -> None:
    bot = b"class Bot:\n    def __init__(self): 1 / 0\n\ndef act(view): return 'C'\n"
    assert fault(sandbox, tmp_path, bot) is None


def test_files_of_one_name_are_two_programs(sandbox: Image, tmp_path: Path) -> None:
    one = read(tmp_path / "one", b"def act(view): return 'C'\n")
    other = read(tmp_path / "other", b"def act(view): return 'D'\n")
    assert play(sandbox, batch_of([one, other], alone=True)).moves == ["000", "111"]
    assert play(sandbox, batch_of([one, other], [other, one])).moves == ["000", "111", "111", "000"]
