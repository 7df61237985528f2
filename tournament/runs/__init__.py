"""Everything that is started: tournaments and their sessions, single matches, checks, replays and evolution.

The engine, the record and the oracles meet here, by passing values.
"""
