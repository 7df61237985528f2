"""Questions asked of a record, each on an open connection. What people ask in SQL is in `views.sql`."""

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

ROWS = 1000
"""How many rows are fetched at a time."""


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
        set status = ?, ended_at = now() at time zone 'utc', matches = (
            select count(*) from matches where matches.sitting = sittings.sitting
        )
        where sitting = ?
        """,
        [status, sitting],
    )


def end_abandoned(connection: DuckDBPyConnection) -> None:
    """Note of sittings that still look running that they are not: nobody else can be writing now."""
    connection.execute(
        """
        update sittings
        set status = 'interrupted', matches = (
            select count(*) from matches where matches.sitting = sittings.sitting
        )
        where status = 'running'
        """
    )


def played(connection: DuckDBPyConnection, run: int) -> set[Fixture]:
    """The fixtures of a run that have been played."""
    digests = {number: digest for digest, number in numbers(connection).items()}
    found = connection.execute("select lineup, repetition from matches where run = ?", [run])
    return {
        Fixture(tuple(digests[number] for number in lineup), repetition)
        for lineup, repetition in _rows(found)
    }


def outcome(connection: DuckDBPyConnection, match: int) -> Played:
    """A match with all that is needed to play it again. Raises `NotFound`."""
    found = dict(_outcomes(connection, "match", match)).get(match)
    if found is None:
        raise NotFound("match", str(match))
    run, sitting, config, seed, manifest = _one(
        connection,
        """
        select run, sitting, config, seed, manifest
        from matches
        join runs using (run)
        join sittings using (sitting)
        where match = ?
        """,
        [match],
    )
    known = programs(connection)
    return Played(
        match=match,
        run=run,
        sitting=sitting,
        outcome=found,
        config=json.loads(config),
        seed=int(seed),
        manifest=json.loads(manifest),
        programs={digest: known[digest] for digest in found.fixture.lineup},
    )


def digest(connection: DuckDBPyConnection, run: int) -> str:
    """SHA-256 of a run's configuration, its seed and all that was played in it, in an order of their own.

    Numbers, times, fuel and who played it where do not enter.
    """
    found = connection.execute("select config, seed from runs where run = ?", [run]).fetchone()
    if found is None:
        raise NotFound("run", str(run))
    config, seed = found
    parts = [_sha([json.loads(config), int(seed)])]
    parts += sorted(_sha(_content(outcome)) for _, outcome in _outcomes(connection, "run", run))
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _content(outcome: Outcome) -> list[object]:
    faults = sorted([each.seat, each.kind, each.round, each.message] for each in outcome.faults)
    fixture = outcome.fixture
    return [
        *(fixture.lineup, fixture.repetition, outcome.rounds),
        *(outcome.moves, outcome.intended, outcome.payoffs, faults),
    ]


def _sha(value: object) -> bytes:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()


def ask(connection: DuckDBPyConnection, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names of columns and rows that answer one SQL query. Raises `UsageError` for any other statement."""
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
        raise UsageError(_one_line(str(error))) from error


def _outcomes(
    connection: DuckDBPyConnection, column: str, number: int
) -> Iterator[tuple[int, Outcome]]:
    """Matches of a run, or one match, with their numbers."""
    digests = {program: digest for digest, program in numbers(connection).items()}
    faults = _faults(connection, column, number)
    leaky = _leaky(connection, column, number)
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
        where {column} = ?
        group by match
        """,
        [number],
    )
    for match, lineup, repetition, rounds, moves, intended, payoffs, fuel, checked in _rows(found):
        yield (
            match,
            Outcome(
                fixture=Fixture(tuple(digests[program] for program in lineup), repetition),
                rounds=rounds,
                moves=tuple(moves),
                payoffs=tuple(payoffs),
                intended=_given(intended) or None,
                faults=faults.get(match, ()),
                fuel=_given(fuel),
                checked=_given(checked),
                leaky=leaky.get(match, ()),
            ),
        )


def _faults(
    connection: DuckDBPyConnection, column: str, number: int
) -> dict[int, tuple[Fault, ...]]:
    """Faults by match, in the order of seats."""
    found = connection.execute(
        f"""
        select match, seat, kind, round, message, traceback, output
        from faults
        join matches using (match)
        where {column} = ?
        order by seat, round
        """,
        [number],
    )
    faults: dict[int, tuple[Fault, ...]] = {}
    for match, *fault in _rows(found):
        faults[match] = (*faults.get(match, ()), Fault(*fault))
    return faults


def _leaky(connection: DuckDBPyConnection, column: str, number: int) -> dict[int, tuple[str, ...]]:
    """Digests of leaky programs by match."""
    found = connection.execute(
        f"""
        select match, list(digest order by digest)
        from leaks
        join matches using (match)
        join programs using (program)
        where {column} = ?
        group by match
        """,
        [number],
    )
    return {match: tuple(leaky) for match, leaky in _rows(found)}


def _codes(column: str) -> str:
    """A column of move indices as text, a character for each."""
    return f"array_to_string(list_transform({column}, lambda move: chr(move + {FIRST_CODE})), '')"


def _given(values: list[Any]) -> tuple[Any, ...]:
    """Values by seat, or nothing where none was recorded."""
    return () if all(value is None for value in values) else tuple(values)


def _one(connection: DuckDBPyConnection, query: str, parameters: object = None) -> tuple[Any, ...]:
    row = connection.execute(query, parameters).fetchone()
    assert row is not None
    return row


def _rows(found: DuckDBPyConnection) -> Iterator[Any]:
    while rows := found.fetchmany(ROWS):
        yield from rows


def _one_line(message: str) -> str:
    """A message of DuckDB's without the query that it quotes."""
    return " ".join(message.partition("\nLINE ")[0].split())
