"""The frame of the `tournament` command: its standard streams, its error handling and its messages."""

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
    help="Play programs that read each other's source against each other, and record every match.",
)


def main() -> None:
    """Run the command and exit. A deliberate error is printed to stderr as one line.

    The exit code is 2 for a `UsageError`, 1 for other deliberate errors and failing output, and 130 for an interrupt.
    """
    try:
        _run_app()
    except UsageError as error:
        _stop(str(error), USAGE)
    except TournamentError as error:
        _stop(str(error), FAULT)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        # Python flushes stdout at exit, which would fail again: discard the remaining output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if isinstance(error, BrokenPipeError):
            sys.exit(FAULT)
        _stop(f"{error.filename or 'the output cannot be written'}: {error.strerror}", FAULT)


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
    """Report wrong command-line arguments: print the usage text and exit, or raise a one-line `UsageError`."""
    problem, context = refused.format_message(), getattr(refused, "ctx", None)
    if problem.startswith("Usage:"):
        print_message(problem)
        sys.exit(refused.exit_code)
    # The error for an option without a value has no context, so the command is taken from argv.
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    command = context.command_path if context else " ".join(["tournament", *words[:1]])
    raise UsageError(f"{problem.rstrip('.')}: see `{command} --help`")


def _open_streams() -> None:
    """Make sure that stdin, stdout and stderr exist, and that stdout and stderr accept any text."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # Otherwise the next file to be opened would get the number of the missing stream, and
            # output would go into that file.
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stop(problem: str, code: int) -> NoReturn:
    """Print the problem and end the process with this exit code."""
    print_message(f"tournament: {problem}")
    sys.exit(code)


def print_message(text: str) -> None:
    """Print a line to stderr, so that stdout has only the results of the command."""
    sys.stderr.write(f"{printable(text)}\n")
    sys.stderr.flush()
