"""Chains and their steps, as they are kept and asked for."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duckdb import DuckDBPyConnection

from tournament.errors import NotFound
from tournament.program import Program
from tournament.store import queries, rows


@dataclass(frozen=True)
class GrownStep:
    """A step of a chain as it stands in the record. `program` is None where nothing came of it."""

    step: int
    round: int
    seat: int
    turn: int
    program: Program | None
    profile: tuple[Program, ...]
    welfare: float | None
    payoffs: tuple[float, ...] | None
    outcome: str
    critique: str
    problems: tuple[str, ...]
    calls: tuple[str, ...]
    best: bool


def begin_chain(
    cursor: DuckDBPyConnection,
    run: int,
    name: str,
    oracles: Sequence[str],
    plan: Mapping[str, Any],
) -> int:
    """The number of a run's chain of that name and plan, entered if it is new."""
    text = json.dumps(plan, sort_keys=True)
    known = cursor.execute(
        "select chain from chains where run = ? and name = ? and oracles = ? and plan = ?",
        [run, name, list(oracles), text],
    ).fetchone()
    if known:
        return int(known[0])
    chain = queries.last(cursor, "chain", "chains") + 1
    cursor.execute("insert into chains values (?, ?, ?, ?, ?)", [chain, run, name, list(oracles), text])
    return chain


def keep_step(cursor: DuckDBPyConnection, chain: int, step: GrownStep) -> None:
    """Keep a step, and the programs in it; one that is kept already stays as it is."""
    written = [step.program] if step.program else []
    rows.insert_programs(cursor, [*step.profile, *written])
    numbers = queries.numbers(cursor)
    if step.program:
        _note_parents(cursor, numbers[step.program.digest], step, numbers)
    cursor.execute(
        "insert into steps values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        [
            chain,
            step.step,
            step.round,
            step.seat,
            step.turn,
            numbers[step.program.digest] if step.program else None,
            [numbers[program.digest] for program in step.profile],
            step.welfare,
            None if step.payoffs is None else list(step.payoffs),
            step.outcome,
            step.critique,
            list(step.problems),
            list(step.calls),
            step.best,
        ],
    )


def _note_parents(
    cursor: DuckDBPyConnection, program: int, step: GrownStep, numbers: Mapping[str, int]
) -> None:
    parents = [numbers[each.digest] for each in step.profile if numbers[each.digest] != program]
    cursor.execute(
        "update programs set parents = ? where program = ? and parents is null", [parents, program]
    )


def steps(cursor: DuckDBPyConnection, chain: int) -> list[GrownStep]:
    """The steps of a chain, in order."""
    digests = {number: digest for digest, number in queries.numbers(cursor).items()}
    known = queries.programs(cursor)

    def program(number: int | None) -> Program | None:
        return None if number is None else known[digests[number]]

    found = cursor.execute(
        """
        select step, round, seat, turn, program, profile, welfare, payoffs, outcome, critique,
            problems, calls, best
        from steps where chain = ? order by step
        """,
        [chain],
    ).fetchall()
    return [
        GrownStep(
            *row[:4],
            program(row[4]),
            tuple(known[digests[number]] for number in row[5]),
            row[6],
            None if row[7] is None else tuple(row[7]),
            *row[8:10],
            tuple(row[10]),
            tuple(row[11]),
            row[12],
        )
        for row in found
    ]


CALL = (
    "key", "place", "purpose", "model", "prompt", "answer", "outcome",
    "input_tokens", "output_tokens", "cost", "seconds", "line",
)  # fmt: skip
"""What is kept of a call; `line` is the whole of it, the rest is there to be queried."""


def keep_call(cursor: DuckDBPyConnection, call: Mapping[str, Any]) -> None:
    """Keep a call with its answer; a later one of the same key takes its place."""
    columns = ", ".join(CALL)
    values = ", ".join("?" * len(CALL))
    cursor.execute(
        f"""
        insert or replace into calls ({columns}, asked_at)
        values ({values}, now() at time zone 'utc')
        """,
        [call[name] for name in CALL],
    )


def find_call(cursor: DuckDBPyConnection, key: str) -> str | None:
    """The line of the call with that key."""
    found = cursor.execute("select line from calls where key = ?", [key]).fetchone()
    return str(found[0]) if found else None


def call_lines(cursor: DuckDBPyConnection) -> list[str]:
    """The lines of all calls, in the order in which they were kept."""
    found = cursor.execute("select line from calls order by asked_at, key").fetchall()
    return [line for (line,) in found]


def find_program(cursor: DuckDBPyConnection, named: str) -> Program:
    """The program of that name, number or beginning of its digest. Raises `NotFound`."""
    found = cursor.execute(
        """
        select digest from programs
        where name = $1 or digest like $2 or program = try_cast($1 as integer)
            or digest in (
                select digest from entrants join programs using (program) where bot = $1
            )
        order by name = $1 desc, program desc limit 1
        """,
        {"1": named, "2": f"{named}%" if len(named) >= 6 else named},
    ).fetchone()
    if found is None:
        raise NotFound("program", named)
    return queries.programs(cursor)[found[0]]
