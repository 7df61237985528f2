"""Outcomes and programs as columns, written a whole batch at a time.

Values are handed to DuckDB as numpy arrays under the name `staged` and inserted by a query: row by row, or as Python
lists, the same takes five to a hundred times as long.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from duckdb import DuckDBPyConnection
from numpy.typing import ArrayLike, NDArray

from tournament.game import FIRST_CODE
from tournament.match import Outcome
from tournament.program import Program

MOVES = f"""
    list_transform(string_split({{0}}, '')[:length({{0}})], lambda code: ascii(code) - {FIRST_CODE})
"""
"""Move indices of a column of codes; the slice makes nothing of an empty text, which splits into one empty part."""


def insert(
    cursor: DuckDBPyConnection,
    query: str,
    columns: Mapping[str, ArrayLike],
    parameters: Sequence[object] = (),
) -> None:
    """Run an inserting query that reads `columns` from `staged`."""
    cursor.register("staged", dict(columns))
    cursor.execute(query, list(parameters))
    cursor.unregister("staged")


def insert_programs(cursor: DuckDBPyConnection, programs: Mapping[int, Program]) -> None:
    """Insert programs under their numbers."""
    insert(
        cursor,
        """
        insert into programs (program, digest, source, name, path)
        select program, digest, source, name, path from staged
        """,
        {
            "program": np.array(list(programs)),
            "digest": texts(program.digest for program in programs.values()),
            "source": texts(program.source for program in programs.values()),
            "name": texts(program.name for program in programs.values()),
            "path": texts(program.path for program in programs.values()),
        },
    )


def insert_matches(
    cursor: DuckDBPyConnection,
    run: int,
    sitting: int,
    outcomes: Mapping[int, Outcome],
    numbers: Mapping[str, int],
) -> None:
    """Insert outcomes under their match numbers; `numbers` are those of programs by digest."""
    lineups = {
        match: [numbers[digest] for digest in outcome.fixture.lineup]
        for match, outcome in outcomes.items()
    }
    _insert_lineups(cursor, run, sitting, outcomes, lineups)
    _insert_seats(cursor, outcomes, lineups)
    _insert_faults(cursor, outcomes)
    _insert_leaks(cursor, outcomes, numbers)


def _insert_lineups(
    cursor: DuckDBPyConnection,
    run: int,
    sitting: int,
    outcomes: Mapping[int, Outcome],
    lineups: Mapping[int, list[int]],
) -> None:
    insert(
        cursor,
        """
        insert into matches (match, run, sitting, repetition, lineup, rounds)
        select match, ?, ?, repetition, lineup::integer[], rounds from staged
        """,
        {
            "match": np.array(list(outcomes)),
            "repetition": np.array([each.fixture.repetition for each in outcomes.values()]),
            "lineup": texts(str(lineup) for lineup in lineups.values()),
            "rounds": np.array([outcome.rounds for outcome in outcomes.values()]),
        },
        [run, sitting],
    )


def _insert_seats(
    cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome], lineups: Mapping[int, list[int]]
) -> None:
    seats = [
        (match, seat, program, *_seat(outcomes[match], seat))
        for match, lineup in lineups.items()
        for seat, program in enumerate(lineup)
    ]
    match, seat, program, payoff, moves, intended, fuel, checked = zip(*seats, strict=True)
    insert(
        cursor,
        f"""
        insert into seats (match, seat, program, payoff, moves, intended, fuel, checked)
        select
            match, seat, program, payoff,
            {MOVES.format("moves")}, {MOVES.format("intended")},
            fuel, checked
        from staged
        """,
        {
            "match": np.array(match),
            "seat": np.array(seat),
            "program": np.array(program),
            "payoff": _optional(payoff, np.float64),
            "moves": texts(moves),
            "intended": np.array(intended, dtype=object),
            "fuel": _optional(fuel, np.int64),
            "checked": _optional(checked, np.bool_),
        },
    )


def _seat(outcome: Outcome, seat: int) -> tuple[object, ...]:
    """Payoff, moves, intended moves, fuel and whether checked, each None where there is none."""
    return (
        outcome.payoffs[seat],
        outcome.moves[seat],
        outcome.intended[seat] if outcome.intended else None,
        outcome.fuel[seat] if outcome.fuel else None,
        outcome.checked[seat] if outcome.checked else None,
    )


def _insert_faults(cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome]) -> None:
    faults = [(match, fault) for match, outcome in outcomes.items() for fault in outcome.faults]
    if not faults:
        return
    insert(
        cursor,
        """
        insert into faults (match, seat, round, kind, message, traceback, output)
        select match, seat, round, kind, message, traceback, output from staged
        """,
        {
            "match": np.array([match for match, _ in faults]),
            "seat": np.array([fault.seat for _, fault in faults]),
            "round": np.array([fault.round for _, fault in faults]),
            "kind": texts(fault.kind for _, fault in faults),
            "message": texts(fault.message for _, fault in faults),
            "traceback": texts(fault.traceback for _, fault in faults),
            "output": texts(fault.output for _, fault in faults),
        },
    )


def _insert_leaks(
    cursor: DuckDBPyConnection, outcomes: Mapping[int, Outcome], numbers: Mapping[str, int]
) -> None:
    leaks = [
        (match, numbers[digest]) for match, outcome in outcomes.items() for digest in outcome.leaky
    ]
    if leaks:
        columns = dict(zip(("match", "program"), np.array(leaks).T, strict=True))
        insert(cursor, "insert into leaks select match, program from staged", columns)


def texts(values: Iterable[str]) -> NDArray[np.object_]:
    """A column of texts. What UTF-8 cannot hold (half a surrogate pair) is written as an escape."""
    return np.array([_clean(value) for value in values], dtype=object)


def _clean(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _optional(values: Sequence[float | None], kind: type[np.generic]) -> NDArray[np.generic]:
    """A column in which None is a gap."""
    gaps = [value is None for value in values]
    return np.ma.masked_array([value or 0 for value in values], gaps, dtype=kind)  # type: ignore[no-untyped-call]
