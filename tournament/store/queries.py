"""Questions the engine asks of a record. What people ask in SQL is in `views.sql`."""

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
"""How many rows are fetched at a time."""
ROUNDS = 2_000_000
"""How many rounds are read at a time: a move takes some 50 bytes while it is turned into text.

A match counts for 100 more, so that short ones are not read all at once either.
"""


@dataclass(frozen=True)
class Played:
    """A recorded match, with all that is needed to play it again."""

    match: int
    run: int
    sitting: int
    outcome: Outcome
    config: dict[str, Any]
    seed: int
    manifest: dict[str, Any]
    programs: dict[str, Program]
    """The programs of its lineup, by digest."""


def last(connection: DuckDBPyConnection, column: str, table: str) -> int:
    """The greatest number in a column, 0 in an empty table."""
    return int(_one(connection, f"select coalesce(max({column}), 0) from {table}")[0])


def numbers(connection: DuckDBPyConnection) -> dict[str, int]:
    """The numbers of all programs, by digest."""
    return dict(connection.execute("select digest, program from programs").fetchall())


def programs(connection: DuckDBPyConnection) -> dict[str, Program]:
    """All programs, by digest."""
    found = connection.execute("select digest, name, source, path from programs order by program")
    return {digest: Program(*text) for digest, *text in _rows(found)}


def end_sitting(connection: DuckDBPyConnection, sitting: int, status: str) -> None:
    """Note that a sitting has ended."""
    connection.execute(
        """
        update sittings
        set status = $status, ended_at = now() at time zone 'utc', matches = (
            select count(*) from matches where sitting = $sitting
        )
        where sitting = $sitting
        """,
        {"status": status, "sitting": sitting},
    )


def end_abandoned(connection: DuckDBPyConnection) -> None:
    """Note that sittings which still look running are not: nobody else can be writing now."""
    connection.execute(
        """
        update sittings
        set status = 'interrupted', matches = (
            select count(*) from matches where matches.sitting = sittings.sitting
        )
        where status = 'running'
        """
    )


def run_of(connection: DuckDBPyConnection, sitting: int) -> int:
    """The run that a sitting belongs to."""
    return int(_one(connection, "select run from sittings where sitting = ?", [sitting])[0])


def matches(connection: DuckDBPyConnection, run: int) -> dict[Fixture, int]:
    """The match numbers of the fixtures of a run that have been played."""
    digests = {number: digest for digest, number in numbers(connection).items()}
    found = connection.execute("select lineup, repetition, match from matches where run = ?", [run])
    return {
        Fixture(tuple(digests[number] for number in lineup), repetition): match
        for lineup, repetition, match in _rows(found)
    }


def outcome(connection: DuckDBPyConnection, match: int) -> Played:
    """A match with all that is needed to play it again. Raises `NotFound`."""
    found = connection.execute(
        """
        select matches.run, sitting, config, seed, manifest
        from matches
        join runs on runs.run = matches.run
        join sittings using (sitting)
        where match = ?
        """,
        [match],
    ).fetchall()
    if not found:
        raise NotFound("match", str(match))
    run, sitting, config, seed, manifest = found[0]
    (outcome,) = _outcomes(connection, run, match, match)
    known = programs(connection)
    return Played(
        match=match,
        run=run,
        sitting=sitting,
        outcome=outcome,
        config=json.loads(config),
        seed=int(seed),
        manifest=json.loads(manifest),
        programs={digest: known[digest] for digest in outcome.fixture.lineup},
    )


def digest(connection: DuckDBPyConnection, run: int) -> str:
    """SHA-256 of a run's configuration, its seed and its outcomes, which are sorted by content.

    Numbers, times, fuel, sittings, versions and what a fault says do not enter.
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
    # A message may show an address, or whatever else a program finds in its instance.
    faults = sorted([each.seat, each.kind, each.round] for each in outcome.faults)
    fixture = outcome.fixture
    return [
        *(fixture.lineup, fixture.repetition, outcome.rounds),
        *(outcome.moves, outcome.intended, outcome.payoffs, faults),
    ]


def _sha(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


def ask(connection: DuckDBPyConnection, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names of columns and rows that answer a query. Raises `UsageError` if it is none."""
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
    """First and last match numbers of parts of a run that are small enough to be read at once."""
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
    """The outcomes of a run that are numbered from `first` to `last`."""
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
    """Faults by match, in the order of seats."""
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
    """What could not be decided, by match: seat, round and reason, in the order of seats."""
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
    """Digests of leaky programs by match."""
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
    """A column of move indices as text, a character for each."""
    return f"array_to_string(list_transform({column}, lambda move: chr(move + {FIRST_CODE})), '')"


def _given(values: list[Any]) -> tuple[Any, ...]:
    """Values by seat, or nothing where none was recorded."""
    return () if all(value is None for value in values) else tuple(values)


def _one(connection: DuckDBPyConnection, query: str, parameters: object = None) -> tuple[Any, ...]:
    (row,) = connection.execute(query, parameters).fetchall()
    return row


def _rows(found: DuckDBPyConnection) -> Iterator[Any]:
    while rows := found.fetchmany(ROWS):
        yield from rows
