"""An engine for open-source games: programs that read each other's source before they move.

This package's face holds words only; playing, recording and asking models are in the folders below it and pull in
what they need when they are imported.
"""

from tournament.errors import TournamentError
from tournament.game import MatrixGame, Repetition, Setting
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program, read_program
from tournament.seeds import Tape

__all__ = (
    "Fault",
    "Fixture",
    "MatrixGame",
    "Outcome",
    "Program",
    "Repetition",
    "Setting",
    "Tape",
    "TournamentError",
    "read_program",
)
__version__ = "0.1.0"
