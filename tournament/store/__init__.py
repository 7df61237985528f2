"""The record of what was played: one DuckDB file, written by one process and read by SQL.

This is the only floor that knows DuckDB. It takes and gives outcomes and programs, and knows
neither how they are played nor how they are shown.
"""

from tournament.store.database import Record
from tournament.store.growth import GrownChain, GrownStep
from tournament.store.queries import Played
from tournament.store.recorder import Recorder

__all__ = ("GrownChain", "GrownStep", "Played", "Record", "Recorder")
