"""An engine for open-source games: programs that read each other's source before they move.

This module exports only the basic data types and `read_program`. Playing matches, recording them and asking models
are in the modules and subpackages below, and their dependencies are loaded only when they are imported.
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
