"""Batches made of bots' sources, for tests of whatever plays them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tournament.engine.audit import audited
from tournament.engine.batch import Batch, Played, make_batch
from tournament.engine.play import play
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.match import Fault, Fixture
from tournament.program import Program
from tournament.sandbox.instance import Image
from tournament.sandbox.limits import Limits

THREE_ROUNDS = Setting(load_game("prisoners_dilemma"), Repetition(rounds=3))
LITTLE = Limits(fuel=100_000_000)
"""Enough for every honest bot here, and soon used up by the others."""


def batch_of(
    *lineups: Sequence[str],
    setting: Setting = THREE_ROUNDS,
    limits: Limits = LITTLE,
    seed: int = 1,
    checks: Sequence[int] = (),
    alone: bool = False,
) -> Batch:
    """A match for each lineup of sources; a lineup that comes again is its next repetition."""
    programs = {p.digest: p for lineup in lineups for p in map(_program, lineup)}
    seen: Counter[tuple[str, ...]] = Counter()
    fixtures = []
    for lineup in lineups:
        digests = tuple(_program(source).digest for source in lineup)
        fixtures.append(Fixture(digests, seen[digests]))
        seen[digests] += 1
    batch = make_batch(setting, seed, programs, fixtures, limits, {}, checks)
    return replace(batch, alone=alone)


def played_and_audited(sandbox: Image, batch: Batch) -> Played:
    """What a worker makes of a batch."""
    return audited(sandbox, batch, play(sandbox, batch))


def match_of(batch: Batch, played: Played, match: int) -> tuple[object, ...]:
    """What a match came to, but for the fuel that it took."""
    slots = range(match * batch.seats, (match + 1) * batch.seats)
    return (
        [played.moves[slot] for slot in slots],
        played.intended and [played.intended[slot] for slot in slots],
        [played.faults.get(slot) for slot in slots],
    )


def matches_of(batch: Batch, played: Played) -> list[tuple[object, ...]]:
    """What every match came to."""
    return [match_of(batch, played, match) for match in range(len(batch.matches))]


def fault_of(sandbox: Image, source: str, limits: Limits = LITTLE) -> Fault | None:
    """The fault that a bot comes to in strict play against one that cooperates."""
    batch = batch_of([source, "def act(view): return 'C'"], limits=limits, alone=True)
    return play(sandbox, batch).faults.get(0)


def said(sandbox: Image, expression: str, before: str = "") -> str:
    """How a bot sees the value of an expression, or the exception that it raises."""
    source = f"""{before}
def act(view):
    try:
        value = {expression}
    except BaseException as error:
        value = error
    print(repr(value), end="")
"""
    fault = fault_of(sandbox, source)
    assert fault is not None
    return fault.output if fault.kind == "illegal" else fault.kind


def _program(source: str) -> Program:
    return Program("bot", source)
