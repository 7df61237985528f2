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
    return int(_one(connection, f"select coalesce(max({column}), 0) from {table}")[0])


def numbers(connection: DuckDBPyConnection) -> dict[str, int]:
    """Return the numbers of all programs, by digest."""
    return dict(connection.execute("select digest, program from programs").fetchall())


def programs(connection: DuckDBPyConnection) -> dict[str, Program]:
    """Return all programs, by digest."""
    found = connection.execute("select digest, name, source, path from programs order by program")
    return {digest: Program(*text) for digest, *text in _rows(found)}


def end_session(connection: DuckDBPyConnection, session: int, status: str) -> None:
    """Record that a session has ended, with its status and the number of matches played in it."""
    connection.execute(
        """
        update sessions
        set status = $status, ended_at = now() at time zone 'utc', matches = (
            select count(*) from matches where session = $session
        )
        where session = $session
        """,
        {"status": status, "session": session},
    )


def end_abandoned(connection: DuckDBPyConnection) -> None:
    """Mark all sessions that are still recorded as running as interrupted.

    This process is the only writer, so the processes that ran those sessions must have ended.
    """
    connection.execute(
        """
        update sessions
        set status = 'interrupted', matches = (
            select count(*) from matches where matches.session = sessions.session
        )
        where status = 'running'
        """
    )


def run_of(connection: DuckDBPyConnection, session: int) -> int:
    """Return the number of the run that a session belongs to."""
    return int(_one(connection, "select run from sessions where session = ?", [session])[0])


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
    run, session, config, seed, manifest = found[0]
    (outcome,) = _outcomes(connection, run, match, match)
    known = programs(connection)
    return Played(
        match=match,
        run=run,
        session=session,
        outcome=outcome,
        config=json.loads(config),
        seed=int(seed),
        manifest=json.loads(manifest),
        programs={digest: known[digest] for digest in outcome.fixture.lineup},
    )


def digest(connection: DuckDBPyConnection, run: int) -> str:
    """Return a SHA-256, in hexadecimal, of a run's configuration, its seed and its outcomes, sorted by content.

    It leaves out match numbers, times, fuel, sessions, versions and the messages of faults. Raises `NotFound` if
    there is no such run.
    """
    found = connection.execute("select config, seed from runs where run = ?", [run]).fetchall()
    if not found:
        raise NotFound("run", str(run))
    config, seed = found[0]
    played = sorted(
        _sha(_content(outcome))
        for first, last in _parts(connection, run)
        for outcome in _outcomes(connection, run, first, last)
    )
    head = _sha([json.loads(config), int(seed)])
    return hashlib.sha256(head + b"".join(played)).hexdigest()


def _content(outcome: Outcome) -> list[object]:
    """Return what `digest` covers of an outcome."""
    # The messages of faults are left out, because they may show memory addresses or other things
    # that differ from one instance to another.
    faults = sorted([each.seat, each.kind, each.round] for each in outcome.faults)
    fixture = outcome.fixture
    return [
        *(fixture.lineup, fixture.repetition, outcome.rounds),
        *(outcome.moves, outcome.intended, outcome.payoffs, faults),
    ]


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
                "only one statement that reads can be asked: select, from, show, explain"
            )
        connection.execute("begin transaction read only")
        answer = connection.execute(query)
        return [column[0] for column in answer.description or ()], answer.fetchall()
    except duckdb.Error as error:
        raise UsageError(one_line(str(error))) from error


def _parts(connection: DuckDBPyConnection, run: int) -> list[tuple[int, int]]:
    """Divide a run into parts small enough to be read at once: the first and last match number of each."""
    return connection.execute(
        f"""
        select min(match), max(match)
        from (
            select match, sum(rounds + 100) over (order by match) // {ROUNDS} as part
            from matches
            where run = ?
        )
        group by part
        """,
        [run],
    ).fetchall()


def _outcomes(connection: DuckDBPyConnection, run: int, first: int, last: int) -> Iterator[Outcome]:
    """Yield the outcomes of a run whose match numbers are from `first` to `last`, both included."""
    where = [run, first, last]
    digests = {program: digest for digest, program in numbers(connection).items()}
    faults = _faults(connection, where)
    notes = _notes(connection, where)
    leaky = _leaky(connection, where)
    found = connection.execute(
        f"""
        select
            match, any_value(lineup), any_value(repetition), any_value(rounds),
            list({_codes("moves")} order by seat),
            list({_codes("intended")} order by seat),
            list(payoff order by seat),
            list(fuel order by seat),
            list(checked order by seat)
        from matches
        join seats using (match)
        where run = ? and match between ? and ?
        group by match
        """,
        where,
    )
    for match, lineup, repetition, rounds, moves, intended, payoffs, fuel, checked in _rows(found):
        yield Outcome(
            fixture=Fixture(tuple(digests[program] for program in lineup), repetition),
            rounds=rounds,
            moves=tuple(moves),
            payoffs=tuple(payoffs),
            intended=_given(intended) or None,
            faults=faults.get(match, ()),
            fuel=_given(fuel),
            checked=_given(checked),
            notes=notes.get(match, ()),
            leaky=leaky.get(match, ()),
        )


def _faults(connection: DuckDBPyConnection, where: list[int]) -> dict[int, tuple[Fault, ...]]:
    """Return the faults of each match, in the order of seats. `where` is a run, and the first and last match number."""
    found = connection.execute(
        """
        select match, seat, kind, round, message, traceback, output
        from faults
        join matches using (match)
        where run = ? and match between ? and ?
        order by seat, round
        """,
        where,
    )
    faults: dict[int, tuple[Fault, ...]] = {}
    for match, *fault in _rows(found):
        faults[match] = (*faults.get(match, ()), Fault(*fault))
    return faults


def _notes(
    connection: DuckDBPyConnection, where: list[int]
) -> dict[int, tuple[tuple[int, int, str], ...]]:
    """Return by match what could not be decided: seat, round and reason, in the order of seats."""
    found = connection.execute(
        """
        select match, seat, round, note
        from notes
        join matches using (match)
        where run = ? and match between ? and ?
        order by seat, round
        """,
        where,
    )
    notes: dict[int, tuple[tuple[int, int, str], ...]] = {}
    for match, seat, round_number, note in _rows(found):
        notes[match] = (*notes.get(match, ()), (seat, round_number, note))
    return notes


def _leaky(connection: DuckDBPyConnection, where: list[int]) -> dict[int, tuple[str, ...]]:
    """Return by match the digests of programs that played it differently in a batch than alone."""
    found = connection.execute(
        """
        select match, list(digest order by digest)
        from leaks
        join matches using (match)
        join programs using (program)
        where run = ? and match between ? and ?
        group by match
        """,
        where,
    )
    return {match: tuple(leaky) for match, leaky in _rows(found)}


def _codes(column: str) -> str:
    """Return an SQL expression that turns a column of move indices into text, one character for each move."""
    return f"array_to_string(list_transform({column}, lambda move: chr(move + {FIRST_CODE})), '')"


def _given(values: list[Any]) -> tuple[Any, ...]:
    """Return the values by seat, or an empty tuple if none was recorded for any seat."""
    return () if all(value is None for value in values) else tuple(values)


def _one(connection: DuckDBPyConnection, query: str, parameters: object = None) -> tuple[Any, ...]:
    """Return the only row of an answer."""
    (row,) = connection.execute(query, parameters).fetchall()
    return row


def _rows(found: DuckDBPyConnection) -> Iterator[Any]:
    while rows := found.fetchmany(ROWS):
        yield from rows
