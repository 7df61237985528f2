"""The output suits the terminal, file or pipe that it is written to, and text from bots cannot control a terminal."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

DB = ("--db", "record.duckdb")


def on_terminal(
    command: Any, *words: object, width: int = 80, typed: Sequence[str] = ()
) -> tuple[int, str]:
    """Run the command on a terminal of this width; return its exit code and its output.

    At each prompt, the next text of `typed` is typed.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = {"TERM": "xterm", "NO_COLOR": "1"}
    child = command.start(
        *words, stdin=theirs, stdout=theirs, stderr=theirs, environment=environment
    )
    os.close(theirs)
    output = b""
    answers = 0
    while True:
        if output.count(b"sql> ") > answers and answers < len(typed):
            os.write(ours, typed[answers].encode())
            answers += 1
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the command has ended and closed the terminal
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    return child.wait(timeout=60), output.decode()


def test_progress_is_printed_as_plain_lines_without_a_terminal(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat", "random")
    done = tournament("run", "--pop", "bots", "--rounds", 50, "--reps", 100, *DB)
    assert re.fullmatch(r"300 of 300 matches, [\d,]+/s", done.lines[-2])
    assert not re.search(r"[^\x20-\x7e\n]", done.err)


def test_progress_is_shown_as_a_bar_on_a_terminal(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat", "random")
    code, output = on_terminal(
        tournament, "run", "--pop", "bots", "--rounds", 50, "--reps", 100, *DB
    )
    assert code == 0
    assert "━" in output
    assert "300/300" in output
    assert "matches/s" in output
    assert "300 matches played, recorded as run 1" in output
    assert "\x1b[?25h" in output  # this shows the cursor again


@pytest.mark.parametrize("width", [10, 80])
def test_names_and_numbers_are_not_cut_on_a_narrow_terminal(recorded_runs: Any, width: int) -> None:
    standings = recorded_runs.rows("select bot, score from leaderboard where run = 2")
    code, output = on_terminal(recorded_runs, "leaderboard", *DB, width=width)
    assert code == 0
    assert all(bot in output and f"{score:.3f}" in output for bot, score in standings)


def test_sql_prompts_for_queries_on_a_terminal(recorded_runs: Any) -> None:
    code, output = on_terminal(
        recorded_runs, "sql", *DB, typed=["select 41 + 1 as answer;\n", "nonsense;\n", "\x04"]
    )
    assert code == 0
    assert "sql> " in output
    assert re.search(r"answer.*42", output, re.DOTALL)
    assert 'syntax error at or near "nonsense"' in output


NASTY = """
def act(view):
    print("\\x1b[2J\\x9b31m\\u202e\\x07 printed")
    raise ValueError("\\x1b]0;title\\x07\\r\\x9b1m raised")
"""


def test_text_from_a_bot_cannot_control_the_terminal(tournament: Any, bots: Any) -> None:
    folder = bots(
        "tit_for_tat",
        nasty=NASTY,
        header='"""\x1b[31mred\n\nPlays: prisoners_dilemma, \x1b[2J\n"""\ndef act(view):\n    return "C"\n',
        kinds='"""x\n\nPlays: zero-sum, \x1b[2J, prisoners_dilemma\n"""\ndef act(view):\n    return "C"\n',
    )
    outputs = [
        tournament("play", folder / "nasty.py", "tit_for_tat", code=1),
        tournament("play", folder / "nasty.py", "tit_for_tat", "--json", code=1),
        tournament("check", "bots", code=1),
        tournament("list", "bots", "--pop", "bots"),
        tournament("run", "--pop", "bots", "--reps", 1, *DB),
        tournament("sql", "select message, traceback, output from faults", *DB),
        tournament("sql", "select message, traceback, output from faults", *DB, "--json"),
        tournament("sql", "select chr(27) || 'x' as x", *DB),
    ]
    for done in outputs:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err)
    assert r"\x1b]0;title\x07" in outputs[0].out
    assert r"\x1b[31mred" in outputs[3].out


def test_output_that_is_closed_early_causes_no_message(recorded_runs: Any) -> None:
    for words in (("list", "bots"), ("sql", "from moves", *DB, "--json"), ("digest", *DB)):
        child = recorded_runs.start(*words, bufsize=0)
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(timeout=60) in (0, 1)


@pytest.mark.parametrize("words", ["list games", "list games --json", "digest --db record.duckdb"])
def test_output_that_cannot_be_written_is_reported_in_one_line(
    recorded_runs: Any, words: str
) -> None:
    with open("/dev/full", "w") as full:
        child = recorded_runs.start(*words.split(), stdout=full)
    assert (
        child.stderr.read() == "tournament: the output cannot be written: No space left on device\n"
    )
    assert child.wait(timeout=60) == 1


def test_a_tournament_is_played_even_without_stdin_stdout_and_stderr(
    tournament: Any, bots: Any
) -> None:
    bots("tit_for_tat", "random")
    words = ("run", "--pop", "bots", "--reps", 2, "--rounds", 5, *DB)
    shell = ("sh", "-c", '"$@" <&- >&- 2>&-', "sh", *tournament.command)
    assert tournament.start(*words, command=shell).wait(timeout=60) == 0
    closed = tournament.digest()
    tournament(*words[:-1], "other.duckdb")
    assert tournament.digest("other.duckdb") == closed


def test_an_ascii_terminal_gets_escapes_for_other_characters(recorded_runs: Any) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    assert "\\xe9" in recorded_runs("sql", "select 'é' as x", *DB, environment=ascii_only).out
    assert "tit_for_tat" in recorded_runs("leaderboard", *DB, environment=ascii_only).out


def test_the_engine_never_imports_bots_that_have_the_names_of_modules(
    tournament: Any, bots: Any
) -> None:
    """The working folder has files that Python would import first if the folder were on its path."""
    trap = "open('imported', 'a').write(__name__)\n"
    names = (
        "json",
        "string",
        "random",
        "anyio",
        "wasmtime",
        "duckdb",
        "site",
        "sitecustomize",
        "os",
    )
    folder = bots("tit_for_tat", **{name: f"# {n}\n{trap}" for n, name in enumerate(names)})
    installed = Path(tournament.command[0]).with_name("tournament")
    done = subprocess.run(
        [installed, "run", "--pop", ".", "--reps", "1", "--db", "../record.duckdb"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert not list(tournament.folder.rglob("imported"))
    assert tournament.rows("select count(distinct match), count(*) from faults") == [(54, 99)]


def test_a_bot_can_neither_read_from_the_machine_nor_change_it(tournament: Any, bots: Any) -> None:
    bots(
        environment="import os\ndef act(view):\n    raise ValueError(dict(os.environ))\n",
        writer="def act(view):\n    open('../written', 'w')\n",
        caller="import socket\ndef act(view):\n    socket.create_connection(('127.0.0.1', 80))\n",
        leaver="import os\ndef act(view):\n    os._exit(0)\n",
        killer="import os\ndef act(view):\n    os.kill(os.getpid(), 9)\n",
        starter="import subprocess\ndef act(view):\n    subprocess.run(['touch', 'written'])\n",
    )
    secret = {"OPENAI_API_KEY": "sk-very-secret"}
    tournament("run", "--pop", "bots", "--reps", 1, *DB, environment=secret)
    assert tournament.rows("select count(*) from results where not faulted") == [(0,)]
    assert not list(tournament.folder.rglob("written"))
    assert b"very-secret" not in (tournament.folder / "record.duckdb").read_bytes()


def test_of_a_megabyte_that_a_bot_prints_only_the_beginning_is_recorded(
    tournament: Any, bots: Any
) -> None:
    bots(loud="def act(view):\n    print('x' * 10**6)\n    return 1 / 0\n")
    tournament("run", "--pop", "bots", "--reps", 1, *DB)
    query = "select min(length(output)), max(length(output)), any_value(traceback) from faults"
    [[least, most, traceback]] = tournament.rows(query)
    assert 100 < least <= most <= 4000
    assert 'File "bot.py", line 3, in act' in traceback
