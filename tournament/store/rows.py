"""Write outcomes and programs to a record, a whole batch at a time and column by column.

DuckDB gets the values as numpy arrays under the name `staged`, and a query inserts them. Inserting
them row by row, or as Python lists, takes five to a hundred times as long.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from duckdb import DuckDBPyConnection
from numpy.typing import NDArray

from tournament.game import FIRST_CODE
from tournament.match import Outcome
from tournament.program import Program
from tournament.store import queries

MOST_MOVES = 1_000_000
"""The number of moves that are inserted at a time, since a move takes about 50 bytes while it becomes a number."""
TYPES: dict[str, type[np.generic]] = {"payoff": np.float64, "checked": np.bool_} | dict.fromkeys(
    ("match", "run", "session", "repetition", "rounds", "seat", "program", "round", "fuel"),
    np.int64,
)
"""The types of all columns that do not hold text."""

Row = tuple[Any, ...]


def insert_entrants(
    cursor: DuckDBPyConnection,
    session: int,
    playing: Iterable[tuple[Program, str]],
    left_out: Iterable[tuple[str, str]],
) -> None:
    """Insert the bots that play in a session, the files that were left out, and the programs that are new.

    `playing` are programs and bot names; `left_out` are file names and the reasons.
    """
    playing = list(playing)
    insert_programs(cursor, [program for program, _ in playing])
    numbers = queries.numbers(cursor)
    rows: list[Row] = [(session, bot, numbers[each.digest], None) for each, bot in playing]
    rows += [(session, file, None, problem) for file, problem in left_out]
    _insert(cursor, "entrants", "session, bot, program, problem", rows)


def insert_programs(cursor: DuckDBPyConnection, programs: Iterable[Program]) -> None:
    """Insert those of the programs that the record does not have yet."""
    known = queries.numbers(cursor)
    new = {each.digest: each for each in programs if each.digest not in known}.values()
    rows = [
        (number, each.digest, each.source, each.name, each.path)
        for number, each in enumerate(new, max(known.values(), default=0) + 1)
    ]
    _insert(cursor, "programs", "program, digest, source, name, path", rows)


def insert_matches(
    cursor: DuckDBPyConnection, session: int, outcomes: Mapping[int, Outcome]
) -> None:
    """Insert outcomes under the match numbers that are their keys. Their programs must be in the record."""
    run, numbers = queries.run_of(cursor, session), queries.numbers(cursor)
    matches, seats, faults, notes, leaks = (list[Row]() for _ in range(5))
    for match, outcome in outcomes.items():
        fixture = outcome.fixture
        lineup = [numbers[digest] for digest in fixture.lineup]
        matches.append((match, run, session, fixture.repetition, str(lineup), outcome.rounds))
        seats += _seats(match, lineup, outcome)
        faults += ((match, *astuple(fault)) for fault in outcome.faults)
        notes += ((match, *note) for note in outcome.notes)
        leaks += ((match, numbers[digest]) for digest in outcome.leaky)
    _insert(cursor, "matches", "match, run, session, repetition, lineup, rounds", matches)
    for part in _parts(seats):
        _insert_seats(cursor, part)
    _insert(cursor, "faults", "match, seat, kind, round, message, traceback, output", faults)
    _insert(cursor, "notes", "match, seat, round, note", notes)
    _insert(cursor, "leaks", "match, program", leaks)


def remove_matches(cursor: DuckDBPyConnection, matches: Sequence[int]) -> None:
    """Delete these matches from all tables."""
    for table in ("leaks", "notes", "faults", "seats", "matches"):
        query = f"delete from {table} where match in (select match from staged)"
        _run(cursor, query, {"match": matches})


def _seats(match: int, lineup: Sequence[int], outcome: Outcome) -> Iterable[Row]:
    """Return the rows of the table `seats` for a match, with the moves still as text."""
    unknown = (None,) * len(lineup)
    return zip(
        *(itertools.repeat(match), itertools.count(), lineup, outcome.payoffs, outcome.moves),
        *(outcome.intended or unknown, outcome.fuel or unknown, outcome.checked or unknown),
        strict=False,
    )


def _parts(seats: Sequence[Row]) -> Iterator[list[Row]]:
    """Cut rows of `seats` into parts small enough to be inserted at once."""
    ends = itertools.accumulate(len(row[4]) for row in seats)
    numbered = zip(ends, seats, strict=True)
    for _, part in itertools.groupby(numbered, key=lambda each: each[0] // MOST_MOVES):
        yield [row for _, row in part]


def _insert_seats(cursor: DuckDBPyConnection, seats: Sequence[Row]) -> None:
    names = ("match", "seat", "program", "payoff", "moves", "intended", "fuel", "checked")
    _run(
        cursor,
        f"""
        insert into seats (match, seat, program, payoff, moves, intended, fuel, checked)
        select match, seat, program, payoff, played.list, meant.list, fuel, checked
        from staged
        join ({_lists("moves")}) as played using (moves)
        left join ({_lists("intended")}) as meant using (intended)
        """,
        dict(zip(names, zip(*seats, strict=True), strict=True)),
    )


def _lists(column: str) -> str:
    """Return a query that gives each distinct text of move codes in a column, with its list of move indices.

    Many seats play the same moves, so each distinct text is converted only once.
    """
    # Empty texts are treated separately, because splitting one gives a list with one empty part.
    return f"""
        select {column}, coalesce(
            list_transform(
                string_split(nullif({column}, ''), ''),
                lambda code: (ascii(code) - {FIRST_CODE})::utinyint
            ),
            []
        ) as list
        from (select distinct {column} from staged)
    """


def _insert(cursor: DuckDBPyConnection, table: str, columns: str, rows: Sequence[Row]) -> None:
    """Insert rows into a table. `columns` are the names of the values in a row, separated by commas."""
    if rows:
        by_column = dict(zip(columns.split(", "), zip(*rows, strict=True), strict=True))
        _run(cursor, f"insert into {table} ({columns}) select {columns} from staged", by_column)


def _run(cursor: DuckDBPyConnection, query: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Run a query that reads `columns` from a table called `staged`."""
    cursor.register("staged", {name: _array(name, values) for name, values in columns.items()})
    cursor.execute(query)
    cursor.unregister("staged")


def _array(name: str, values: Sequence[Any]) -> NDArray[Any]:
    """Return the values of a column as an array, in which None becomes NULL in SQL."""
    if name not in TYPES:
        return np.array([text and clean(text) for text in values], dtype=object)
    if None not in values:
        return np.array(values, dtype=TYPES[name])
    array = np.array([value or 0 for value in values], dtype=TYPES[name])
    return np.ma.masked_array(array, [value is None for value in values])


def clean(text: str) -> str:
    """Return the text with escapes for what UTF-8 cannot encode, which is half a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
