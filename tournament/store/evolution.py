"""How a record stores chains, their steps and calls to models, and how it finds them again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from duckdb import DuckDBPyConnection

from tournament.program import Program
from tournament.store import queries, rows


@dataclass(frozen=True)
class RecordedStep:
    """A recorded step of a chain.

    `program` is None if the step produced no program. `profile` is the lineup after the step. `welfare`, `payoffs`
    and `samples` are None for a step without a program that runs.
    """

    step: int
    round: int
    seat: int
    turn: int
    program: Program | None
    profile: tuple[Program, ...]
    welfare: float | None
    payoffs: tuple[float, ...] | None
    samples: tuple[float, ...] | None
    outcome: str
    critique: str
    problems: tuple[str, ...]
    calls: tuple[str, ...]
    best: bool


@dataclass(frozen=True)
class RecordedChain:
    """A recorded chain. Its number is unique in the record; its name may be that of other chains too."""

    chain: int
    run: int
    name: str
    oracles: tuple[str, ...]
    plan: Mapping[str, Any]

    def called(self, step: RecordedStep) -> str:
        """Return the name of one of the chain's steps, as users type it."""
        return f"{self.name}_{step.round}_{step.seat}_{step.turn}"


STEP = ", ".join(field.name for field in fields(RecordedStep))
"""The columns of `steps` that hold the fields of a `RecordedStep`, for use in SQL."""


def keep_step(cursor: DuckDBPyConnection, chain: int, step: RecordedStep) -> None:
    """Store a step and the programs in it.

    Nothing changes if the record has the same step already. If the recorded step differs, for example because a
    call to a model failed then and was answered now, this one replaces it and all later steps are deleted.
    """
    written = [step.program] if step.program else []
    rows.insert_programs(cursor, [*step.profile, *written])
    numbers = queries.numbers(cursor)
    values = _values(step, numbers)
    known = cursor.execute(
        f"select {STEP} from steps where chain = ? and step = ?", [chain, step.step]
    ).fetchone()
    if known == values:
        return
    cursor.execute("delete from steps where chain = ? and step >= ?", [chain, step.step])
    marks = ", ".join("?" * len(values))
    cursor.execute(f"insert into steps (chain, {STEP}) values (?, {marks})", [chain, *values])
    if step.program and not step.program.path:
        _note_parents(cursor, numbers[step.program.digest], step, numbers)


def _values(step: RecordedStep, numbers: Mapping[str, int]) -> tuple[Any, ...]:
    """Return the values of a step for the columns in `STEP`, with programs as their numbers."""
    values = vars(step) | {
        "program": numbers[step.program.digest] if step.program else None,
        "profile": [numbers[program.digest] for program in step.profile],
        "critique": rows.clean(step.critique),
        "problems": [rows.clean(problem) for problem in step.problems],
    }
    return tuple(list(each) if isinstance(each, tuple) else each for each in values.values())


def _note_parents(
    cursor: DuckDBPyConnection, program: int, step: RecordedStep, numbers: Mapping[str, int]
) -> None:
    """Add the other programs of the step's profile to the parents of the program that it produced.

    They are added to the parents it has, because other steps may have produced the same program.
    """
    parents = [numbers[each.digest] for each in step.profile if numbers[each.digest] != program]
    union = "list_sort(list_distinct(list_concat(coalesce(parents, []), ?)))"
    cursor.execute(f"update programs set parents = {union} where program = ?", [parents, program])


def steps(cursor: DuckDBPyConnection, chain: int) -> list[RecordedStep]:
    """Return the steps of a chain, in order."""
    known = queries.programs(cursor)
    programs = {number: known[digest] for digest, number in queries.numbers(cursor).items()}
    found = cursor.execute(f"select {STEP} from steps where chain = ? order by step", [chain])
    return [
        RecordedStep(**_read(dict(zip(STEP.split(", "), row, strict=True)), programs))
        for row in found.fetchall()
    ]


def _read(row: dict[str, Any], programs: Mapping[int, Program]) -> dict[str, Any]:
    """Return the fields of a `RecordedStep`, from a row by column; `programs` are by number."""
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    profile = tuple(programs[number] for number in row["profile"])
    return row | lists | {"program": programs.get(row["program"]), "profile": profile}


CALL = (
    "key", "run", "place", "purpose", "model", "prompt", "answer", "outcome",
    "input_tokens", "output_tokens", "cost", "seconds", "line",
)  # fmt: skip
"""The columns of a call to a model. `line` is the whole call with its answer; the others are for queries."""


def keep_calls(cursor: DuckDBPyConnection, calls: Sequence[Mapping[str, Any]]) -> None:
    """Store calls with their answers. A call replaces an earlier one with the same key."""
    last = {call["key"]: call for call in calls}.values()
    columns = ", ".join(CALL)
    values = ", ".join(["unnest(?)"] * len(CALL))
    # The columns are passed as lists: inserting a batch row by row takes thirty times as long.
    cursor.execute(
        f"""
        insert or replace into calls ({columns}, asked_at)
        select {values}, now() at time zone 'utc'
        """,
        [[call[name] for call in last] for name in CALL],
    )


PROGRAMS_CALLED = """
    with used as (
        select program, run, null as chain from entrants join sessions using (session)
        union
        select unnest(profile || [steps.program]), run, chain from steps join chains using (chain)
    )
    select digest from programs
    where (
        name = $named or program::varchar = $named
        or (length($named) >= 6 and starts_with(digest, $named))
        or program in (select program from entrants where bot = $named)
    )
    and ($run is null or program in (select program from used where run = $run))
    and ($chain is null or program in (select program from used where chain = $chain))
    order by name = $named desc, program desc
"""
"""Selects the programs with a name, a bot's name, a number or a beginning of a digest (at least 6 digits).

With a run or a chain, only programs that took part in it are selected. Programs whose own name this is come first;
otherwise the latest comes first.
"""
STEPS_CALLED = """
    select chain, step, digest
    from steps
    join chains using (chain)
    left join programs using (program)
    where concat_ws('_', chains.name, round, seat, turn) = $named or digest = $named
    order by chain desc, step
"""
"""Selects the steps that have a name or produced the program with a digest, those of the latest chain first."""
