"""The frame of the `tournament` command: its streams, what becomes of errors, and how it speaks."""

import io
import os
import sys
from typing import NoReturn

import typer

from tournament.errors import TournamentError, UsageError
from tournament.report.text import printable

FAULT = 1
USAGE = 2

app = typer.Typer(
    name="tournament",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Plays programs that read each other's source against each other, and records every match.",
)


def main() -> None:
    """Run the command; a deliberate error is one line on stderr."""
    try:
        _run_app()
    except UsageError as error:
        _stop(str(error), USAGE)
    except TournamentError as error:
        _stop(str(error), FAULT)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        # What is left to be printed would fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            sys.exit(FAULT)
        _stop(f"{error.filename or 'what comes out cannot be written'}: {error.strerror}", FAULT)


def _run_app() -> None:
    _open_streams()
    try:
        code = app(standalone_mode=False)
    except typer.TyperException as refused:
        _refuse(refused)
    finally:
        sys.stdout.flush()
    sys.exit(code)


def _refuse(refused: typer.TyperException) -> NoReturn:
    """Say in a line what is wrong with the words of a command; without any, say which there are."""
    problem, context = refused.format_message(), getattr(refused, "ctx", None)
    if problem.startswith("Usage:"):
        say(problem)
        sys.exit(refused.exit_code)
    # Of an option without its value it is not said in which command it stood.
    command = context.command_path if context else f"{app.info.name} {sys.argv[1]}"
    raise UsageError(f"{problem.rstrip('.')}: see `{command} --help`")


def _open_streams() -> None:
    """See to it that there is a stdin, stdout and stderr, and that they take any text."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # Or else the next file opened would get its number, and what is printed would go there.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop(problem: str, code: int) -> NoReturn:
    say(f"tournament: {problem}")
    sys.exit(code)


def say(text: str) -> None:
    """Say a line to whoever runs the command, beside what is printed."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()
