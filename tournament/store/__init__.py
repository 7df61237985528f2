"""The record of what was played: one DuckDB file, which one process writes and which SQL reads.

This is the only package that uses DuckDB. It stores and returns outcomes and programs, and does
not know how matches are played or how results are shown.
"""

from tournament.store.database import Record
from tournament.store.evolution import RecordedChain, RecordedStep
from tournament.store.queries import Played
from tournament.store.recorder import Recorder

__all__ = ("Played", "Record", "RecordedChain", "RecordedStep", "Recorder")
