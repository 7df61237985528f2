"""What is printed suits what it is printed on, and nothing that a bot wrote commands a terminal."""

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
    """Exit code and output of the command on a terminal of that width; a text is typed at each prompt."""
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
        except OSError:  # the other end is gone
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    return child.wait(timeout=60), output.decode()


def test_progress_is_plain_lines_where_nobody_watches(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat", "random")
    done = tournament("run", "--pop", "bots", "--rounds", 50, "--reps", 100, *DB)
    assert re.fullmatch(r"300 of 300 matches, [\d,]+/s", done.lines[-2])
    assert not re.search(r"[^\x20-\x7e\n]", done.err)


def test_progress_is_a_bar_on_a_terminal(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat", "random")
    code, output = on_terminal(
        tournament, "run", "--pop", "bots", "--rounds", 50, "--reps", 100, *DB
    )
    assert code == 0
    assert "━" in output
    assert "300/300" in output
    assert "matches/s" in output
    assert "300 matches played, recorded as run 1" in output
    assert "\x1b[?25h" in output  # the cursor is shown again


@pytest.mark.parametrize("width", [10, 80])
def test_words_and_numbers_are_whole_however_narrow_the_terminal(made: Any, width: int) -> None:
    standings = made.rows("select bot, score from leaderboard where run = 2")
    code, output = on_terminal(made, "leaderboard", *DB, width=width)
    assert code == 0
    assert all(bot in output and f"{score:.3f}" in output for bot, score in standings)


def test_a_prompt_answers_on_a_terminal(made: Any) -> None:
    code, output = on_terminal(
        made, "sql", *DB, typed=["select 41 + 1 as answer;\n", "nonsense;\n", "\x04"]
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


def test_what_a_bot_wrote_cannot_command_the_terminal(tournament: Any, bots: Any) -> None:
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


def test_a_reader_that_goes_away_early_is_no_error(made: Any) -> None:
    for words in (("list", "bots"), ("sql", "from moves", *DB, "--json"), ("digest", *DB)):
        child = made.start(*words, bufsize=0)
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(timeout=60) in (0, 1)


@pytest.mark.parametrize("words", ["list games", "list games --json", "digest --db record.duckdb"])
def test_an_output_that_cannot_be_written_is_one_line(made: Any, words: str) -> None:
    with open("/dev/full", "w") as full:
        child = made.start(*words.split(), stdout=full)
    assert (
        child.stderr.read() == "tournament: the output cannot be written: No space left on device\n"
    )
    assert child.wait(timeout=60) == 1


def test_without_any_of_the_standard_streams_a_tournament_is_played_all_the_same(
    tournament: Any, bots: Any
) -> None:
    bots("tit_for_tat", "random")
    words = ("run", "--pop", "bots", "--reps", 2, "--rounds", 5, *DB)
    shell = ("sh", "-c", '"$@" <&- >&- 2>&-', "sh", *tournament.command)
    assert tournament.start(*words, command=shell).wait(timeout=60) == 0
    closed = tournament.digest()
    tournament(*words[:-1], "other.duckdb")
    assert tournament.digest("other.duckdb") == closed


def test_a_terminal_that_knows_only_ascii_gets_escapes(made: Any) -> None:
    ascii_only = {"PYTHONIOENCODING": "ascii"}
    assert "\\xe9" in made("sql", "select 'é' as x", *DB, environment=ascii_only).out
    assert "tit_for_tat" in made("leaderboard", *DB, environment=ascii_only).out


def test_bots_with_names_of_modules_are_never_imported_by_the_engine(
    tournament: Any, bots: Any
) -> None:
    """The folder where the command is given is full of what would be imported first, if it were looked at."""
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


def test_a_bot_learns_nothing_of_the_machine_and_changes_nothing_on_it(
    tournament: Any, bots: Any
) -> None:
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


def test_a_bot_that_prints_a_megabyte_leaves_a_traceback_and_a_few_lines(
    tournament: Any, bots: Any
) -> None:
    bots(loud="def act(view):\n    print('x' * 10**6)\n    return 1 / 0\n")
    tournament("run", "--pop", "bots", "--reps", 1, *DB)
    query = "select min(length(output)), max(length(output)), any_value(traceback) from faults"
    [[least, most, traceback]] = tournament.rows(query)
    assert 100 < least <= most <= 4000
    assert 'File "bot.py", line 3, in act' in traceback
