"""Helpers that make batches from the sources of bots, and that read what came of their matches."""

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
"""Enough fuel for every well-behaved bot in the tests, while bots in an endless loop soon use it up."""


def batch_of(
    *lineups: Sequence[str],
    setting: Setting = THREE_ROUNDS,
    limits: Limits = LITTLE,
    seed: int = 1,
    checks: Sequence[int] = (),
    alone: bool = False,
) -> Batch:
    """Return a batch with a match for each lineup of sources. A lineup that is given again is its next repetition."""
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
    """Return the moves, the intended moves and the faults of a match by seat, without the fuel."""
    slots = range(match * batch.seats, (match + 1) * batch.seats)
    return (
        [played.moves[slot] for slot in slots],
        played.intended and [played.intended[slot] for slot in slots],
        [played.faults.get(slot) for slot in slots],
    )


def matches_of(batch: Batch, played: Played) -> list[tuple[object, ...]]:
    """Return the moves, the intended moves and the faults of every match."""
    return [match_of(batch, played, match) for match in range(len(batch.matches))]


def fault_of(sandbox: Image, source: str, limits: Limits = LITTLE) -> Fault | None:
    """Return the fault of a bot in strict play against one that cooperates, or None."""
    batch = batch_of([source, "def act(view): return 'C'"], limits=limits, alone=True)
    return play(sandbox, batch).faults.get(0)


def shown_value(sandbox: Image, expression: str, before: str = "") -> str:
    """Return the value of an expression as text, evaluated by a bot; or the exception that it raises."""
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
