"""The queries that the engine makes to a record. Views for queries that people write are in `views.sql`."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb
from duckdb import DuckDBPyConnection

from tournament.errors import NotFound, UsageError
from tournament.game import FIRST_CODE
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.store.failures import one_line

ROWS = 1000
"""The number of rows that are fetched at a time."""
ROUNDS = 2_000_000
"""The number of rounds that are read at a time, since a move takes about 50 bytes while it becomes text.

Each match counts as 100 more rounds, so that many short matches are not read all at once either.
"""
PARTS = f"""
    select min(match), max(match)
    from (
        select match, sum(rounds + 100) over (order by match) // {ROUNDS} as part
        from matches
        where run = ?
    )
    group by part
"""
"""Divides a run into parts small enough to be read at once: the first and last match number of each."""
CODES = f"array_to_string(list_transform({{}}, lambda move: chr(move + {FIRST_CODE})), '')"
"""Turns a column of move indices into text, one character for each move."""
OUTCOMES = f"""
    select
        any_value(lineup), any_value(repetition), any_value(rounds),
        list({CODES.format("moves")} order by seat),
        list(payoff order by seat),
        list({CODES.format("intended")} order by seat),
        list(fuel order by seat),
        list(checked order by seat),
        (
            select list((seat, kind, round, message, traceback, output) order by seat, round)
            from faults
            where faults.match = matches.match
        ),
        (
            select list((seat, round, note) order by seat, round)
            from notes
            where notes.match = matches.match
        ),
        (
            select list(digest order by digest)
            from leaks
            join programs using (program)
            where leaks.match = matches.match
        )
    from matches
    join seats using (match)
    where run = ? and match between ? and ?
    group by match
"""
"""Selects the outcomes of a run from a first to a last match number: the fields of `Outcome`."""


@dataclass(frozen=True)
class Played:
    """A recorded match, with all that is needed to play it again."""

    match: int
    run: int
    session: int
    outcome: Outcome
    config: dict[str, Any]
    seed: int
    manifest: dict[str, Any]
    programs: dict[str, Program]
    """The programs of the match's lineup, by digest."""


def last(connection: DuckDBPyConnection, column: str, table: str) -> int:
    """Return the greatest number in a column, or 0 if the table is empty."""
    [(number,)] = connection.execute(f"select coalesce(max({column}), 0) from {table}").fetchall()
    return int(number)


def numbers(connection: DuckDBPyConnection) -> dict[str, int]:
    """Return the numbers of all programs, by digest."""
    return dict(connection.execute("select digest, program from programs").fetchall())


def programs(connection: DuckDBPyConnection) -> dict[str, Program]:
    """Return all programs, by digest."""
    found = connection.execute("select digest, name, source, path from programs order by program")
    return {digest: Program(*text) for digest, *text in _rows(found)}


def run_of(connection: DuckDBPyConnection, session: int) -> int:
    """Return the number of the run that a session belongs to."""
    query = "select run from sessions where session = ?"
    [(run,)] = connection.execute(query, [session]).fetchall()
    return int(run)


def matches(connection: DuckDBPyConnection, run: int) -> dict[Fixture, int]:
    """Return the match numbers of those fixtures of a run that have been played."""
    digests = {number: digest for digest, number in numbers(connection).items()}
    found = connection.execute("select lineup, repetition, match from matches where run = ?", [run])
    return {
        Fixture(tuple(digests[number] for number in lineup), repetition): match
        for lineup, repetition, match in _rows(found)
    }


def outcome(connection: DuckDBPyConnection, match: int) -> Played:
    """Return a match with all that is needed to play it again. Raises `NotFound` if there is no such match."""
    found = connection.execute(
        """
        select matches.run, session, config, seed, manifest
        from matches
        join runs on runs.run = matches.run
        join sessions using (session)
        where match = ?
        """,
        [match],
    ).fetchall()
    if not found:
        raise NotFound("match", str(match))
    [(run, session, config, seed, manifest)] = found
    [outcome] = _outcomes(connection, run, match, match)
    known = programs(connection)
    lineup = {digest: known[digest] for digest in outcome.fixture.lineup}
    settings = json.loads(config), int(seed), json.loads(manifest)
    return Played(match, run, session, outcome, *settings, lineup)


def digest(connection: DuckDBPyConnection, run: int) -> str:
    """Return a SHA-256, in hexadecimal, of a run's configuration, its seed and its outcomes, sorted by content.

    It leaves out match numbers, times, fuel, sessions, versions and the messages of faults. Raises `NotFound` if
    there is no such run.
    """
    found = connection.execute("select config, seed from runs where run = ?", [run]).fetchall()
    if not found:
        raise NotFound("run", str(run))
    [(config, seed)] = found
    played = sorted(
        _sha(outcome.content)
        for first, last in connection.execute(PARTS, [run]).fetchall()
        for outcome in _outcomes(connection, run, first, last)
    )
    head = _sha([json.loads(config), int(seed)])
    return hashlib.sha256(head + b"".join(played)).hexdigest()


def _sha(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


def ask(connection: DuckDBPyConnection, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the column names and the rows that answer a query.

    Raises `UsageError` if it is not a single statement that reads, or if DuckDB reports an error.
    """
    try:
        kinds = [statement.type for statement in connection.extract_statements(query)]
        if kinds not in ([duckdb.StatementType.SELECT], [duckdb.StatementType.EXPLAIN]):
            raise UsageError(
                "a query must be a single statement that only reads: select, from, show or explain"
            )
        connection.execute("begin transaction read only")
        answer = connection.execute(query)
        return [column[0] for column in answer.description or ()], answer.fetchall()
    except duckdb.Error as error:
        raise UsageError(one_line(str(error))) from error


def _outcomes(connection: DuckDBPyConnection, run: int, first: int, last: int) -> Iterator[Outcome]:
    """Yield the outcomes of a run whose match numbers are from `first` to `last`, both included."""
    digests = {program: digest for digest, program in numbers(connection).items()}
    found = connection.execute(OUTCOMES, [run, first, last])
    for lineup, repetition, rounds, moves, payoffs, intended, fuel, checked, *more in _rows(found):
        faults, notes, leaky = (tuple(each or ()) for each in more)
        yield Outcome(
            fixture=Fixture(tuple(digests[program] for program in lineup), repetition),
            rounds=rounds,
            moves=tuple(moves),
            payoffs=tuple(payoffs),
            intended=_given(intended) or None,
            faults=tuple(Fault(*fault) for fault in faults),
            fuel=_given(fuel),
            checked=_given(checked),
            notes=notes,
            leaky=leaky,
        )


def _given(values: list[Any]) -> tuple[Any, ...]:
    """Return the values by seat, or an empty tuple if none was recorded for any seat."""
    return () if all(value is None for value in values) else tuple(values)


def _rows(found: DuckDBPyConnection) -> Iterator[Any]:
    while rows := found.fetchmany(ROWS):
        yield from rows
