"""The `tournament` command. It only reads arguments, calls the packages below, and prints the results."""

from tournament.cli.app import app, main
from tournament.cli.evolving import evolve, export, lineage, models, plot
from tournament.cli.playing import check, play, prove, run
from tournament.cli.recorded import digest, leaderboard, list_, matrix, replay, sql

__all__ = ("app", "main")

COMMANDS = (
    *(run, list_, check, play, prove),
    *(leaderboard, matrix, replay, digest, sql),
    *(evolve, models, export, lineage, plot),
)
"""All commands, in the order in which the help lists them."""

for command in COMMANDS:
    app.command(command.__name__.rstrip("_"))(command)
