"""Write outcomes and programs to a record, a whole batch at a time and column by column.

DuckDB gets the values as numpy arrays under the name `staged`, and a query inserts them. Inserting
them row by row, or as Python lists, takes five to a hundred times as long.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from duckdb import DuckDBPyConnection
from numpy.typing import ArrayLike, NDArray

from tournament.game import FIRST_CODE
from tournament.match import Outcome
from tournament.program import Program
from tournament.store import queries

MOST_MOVES = 1_000_000
"""The number of moves that are inserted at a time, since a move takes about 50 bytes while it becomes a number."""


def insert_entrants(
    cursor: DuckDBPyConnection,
    session: int,
    playing: Sequence[tuple[Program, str]],
    left_out: Sequence[tuple[str, str]],
) -> None:
    """Insert the bots that play in a session, the files that were left out, and the programs that are new.

    `playing` are programs and bot names; `left_out` are file names and the reasons.
    """
    insert_programs(cursor, [program for program, _ in playing])
    numbers = queries.numbers(cursor)
    entrants = [(name, numbers[program.digest], None) for program, name in playing]
    refused = [(name, None, problem) for name, problem in left_out]
    if not entrants and not refused:
        return
    bots, programs, problems = zip(*entrants, *refused, strict=True)
    _run(
        cursor,
        "insert into entrants select ?, bot, program, problem from staged",
        {
            "bot": _texts(bots),
            "program": _optional(programs, np.int64),
            "problem": _texts(problems),
        },
        [session],
    )


def insert_programs(cursor: DuckDBPyConnection, programs: Iterable[Program]) -> None:
    """Insert those of the programs that the record does not have yet."""
    known = queries.numbers(cursor)
    new = {each.digest: each for each in programs if each.digest not in known}.values()
    if not new:
        return
    first = max(known.values(), default=0) + 1
    _run(
        cursor,
        """
        insert into programs (program, digest, source, name, path)
        select program, digest, source, name, path from staged
        """,
        {
            "program": np.arange(first, first + len(new)),
            "digest": _texts(program.digest for program in new),
            "source": _texts(program.source for program in new),
            "name": _texts(program.name for program in new),
            "path": _texts(program.path for program in new),
        },
    )


def insert_matches(
    cursor: DuckDBPyConnection, session: int, outcomes: Mapping[int, Outcome]
) -> None:
    """Insert outcomes under the match numbers that are their keys. Their programs must be in the record."""
    if not outcomes:
        return
    numbers = queries.numbers(cursor)
    lineups = {
        match: [numbers[digest] for digest in outcome.fixture.lineup]
        for match, outcome in outcomes.items()
    }
    _insert_lineups(cursor, session, outcomes, lineups)
    _insert_seats(cursor, outcomes, lineups)
    _insert_faults(cursor, outcomes)
    _insert_notes(cursor, outcomes)
    _insert_leaks(cursor, outcomes, numbers)


def remove_matches(cursor: DuckDBPyConnection, matches: Sequence[int]) -> None:
    """Delete these matches from all tables."""
    for table in ("leaks", "notes", "faults", "seats", "matches"):
        query = f"delete from {table} where match in (select match from staged)"
        _run(cursor, query, {"match": np.array(matches, dtype=np.int64)})


def _insert_lineups(
    cursor: DuckDBPyConnection,
    session: int,
    outcomes: Mapping[int, Outcome],
    lineups: Mapping[int, list[int]],
) -> None:
    _run(
        cursor,
        """
        insert into matches (match, run, session, repetition, lineup, rounds)
        select match, run, session, repetition, lineup::integer[], rounds
        from staged, sessions
        where session = ?
        """,
        {
            "match": np.array(list(outcomes)),
            "repetition": np.array([each.fixture.repetition for each in outcomes.values()]),
            "lineup": _texts(str(lineup) for lineup in lineups.values()),
            "rounds": np.array([outcome.rounds for outcome in outcomes.values()]),
        },
        [session],
    )


def _insert_seats(
    cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome], lineups: Mapping[int, list[int]]
) -> None:
    columns = _seat_columns(outcomes, lineups)
    for part in _parts(columns["moves"]):
        _insert_part(cursor, {name: column[part] for name, column in columns.items()})


def _seat_columns(
    outcomes: Mapping[int, Outcome], lineups: Mapping[int, list[int]]
) -> dict[str, list[Any]]:
    """Return the columns of the table `seats`, with one entry for each seat of each match."""
    played = outcomes.values()
    each = itertools.chain.from_iterable
    nothing = {len(lineup): (None,) * len(lineup) for lineup in lineups.values()}
    return {
        "match": [match for match, lineup in lineups.items() for _ in lineup],
        "seat": [seat for lineup in lineups.values() for seat in range(len(lineup))],
        "program": [*each(lineups.values())],
        "payoff": [*each(outcome.payoffs for outcome in played)],
        "moves": [*each(outcome.moves for outcome in played)],
        "intended": [*each(o.intended or nothing[len(o.moves)] for o in played)],
        "fuel": [*each(o.fuel or nothing[len(o.moves)] for o in played)],
        "checked": [*each(o.checked or nothing[len(o.moves)] for o in played)],
    }


def _parts(moves: Sequence[str]) -> Iterator[slice]:
    """Yield the slices that cut a column of moves into parts small enough to be inserted at once."""
    ends = itertools.accumulate(map(len, moves))
    start = 0
    for _, part in itertools.groupby(end // MOST_MOVES for end in ends):
        end = start + sum(1 for _ in part)
        yield slice(start, end)
        start = end


def _insert_part(cursor: DuckDBPyConnection, columns: Mapping[str, list[Any]]) -> None:
    _run(
        cursor,
        f"""
        insert into seats (match, seat, program, payoff, moves, intended, fuel, checked)
        select match, seat, program, payoff, made.list, meant.list, fuel, checked
        from staged
        join ({_lists("moves")}) as made using (moves)
        left join ({_lists("intended")}) as meant using (intended)
        """,
        {
            "match": np.array(columns["match"]),
            "seat": np.array(columns["seat"]),
            "program": np.array(columns["program"]),
            "payoff": _optional(columns["payoff"], np.float64),
            "moves": _texts(columns["moves"]),
            "intended": _texts(columns["intended"]),
            "fuel": _optional(columns["fuel"], np.int64),
            "checked": _optional(columns["checked"], np.bool_),
        },
    )


def _insert_faults(cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome]) -> None:
    faults = [(match, fault) for match, outcome in outcomes.items() for fault in outcome.faults]
    if not faults:
        return
    _run(
        cursor,
        """
        insert into faults (match, seat, round, kind, message, traceback, output)
        select match, seat, round, kind, message, traceback, output from staged
        """,
        {
            "match": np.array([match for match, _ in faults]),
            "seat": np.array([fault.seat for _, fault in faults]),
            "round": np.array([fault.round for _, fault in faults]),
            "kind": _texts(fault.kind for _, fault in faults),
            "message": _texts(fault.message for _, fault in faults),
            "traceback": _texts(fault.traceback for _, fault in faults),
            "output": _texts(fault.output for _, fault in faults),
        },
    )


def _insert_notes(cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome]) -> None:
    notes = [(match, *note) for match, outcome in outcomes.items() for note in outcome.notes]
    if not notes:
        return
    matches, seats, rounds, texts = zip(*notes, strict=True)
    _run(
        cursor,
        "insert into notes (match, seat, round, note) select match, seat, round, note from staged",
        {
            "match": np.array(matches),
            "seat": np.array(seats),
            "round": np.array(rounds),
            "note": _texts(texts),
        },
    )


def _insert_leaks(
    cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome], numbers: Mapping[str, int]
) -> None:
    leaks = [
        (match, numbers[digest]) for match, outcome in outcomes.items() for digest in outcome.leaky
    ]
    if leaks:
        match, program = np.array(leaks).T
        query = "insert into leaks (match, program) select match, program from staged"
        _run(cursor, query, {"match": match, "program": program})


def _run(
    cursor: DuckDBPyConnection,
    query: str,
    columns: Mapping[str, ArrayLike],
    parameters: Sequence[object] = (),
) -> None:
    """Run a query that reads `columns` from a table called `staged`."""
    cursor.register("staged", dict(columns))
    cursor.execute(query, list(parameters))
    cursor.unregister("staged")


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


def _texts(values: Iterable[str | None]) -> NDArray[np.object_]:
    """Return a column of texts, with escapes for what UTF-8 cannot encode (half a surrogate pair)."""
    return np.array([value and _clean(value) for value in values], dtype=object)


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _optional(values: Sequence[float | None], kind: type[np.generic]) -> NDArray[np.generic]:
    """Return a numpy column of this type, in which None becomes a masked entry (NULL in SQL)."""
    column = np.array([value or 0 for value in values], dtype=kind)
    return np.ma.masked_array(column, [value is None for value in values])
