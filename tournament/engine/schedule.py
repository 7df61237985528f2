"""Who meets whom, which of it is still to be played, and what is played together. Pure functions."""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence

from tournament.errors import UsageError
from tournament.game import Setting
from tournament.match import Fixture, turned
from tournament.seeds import tape_name

MOST_LINEUPS = 1_000_000
BLOCK = 40
"""Programs whose matches are played together: as many instances are alive in a worker at a time, twice over."""
MOST_MATCHES = 4_000
MOST_SLOW_MATCHES = 200
MOST_MOVES = 1_000_000
"""Bounds on a batch: what is lost when a worker dies, and what its rows take of memory."""
CHECKED = 1_000
"""One seat in this many is checked beside one of every program."""


def round_robin(setting: Setting, digests: Sequence[str], repetitions: int) -> list[Fixture]:
    """Every program against every other and itself, each as often.

    Where seats differ, every order of seats is played; where they do not, a lineup is played once, and its
    programs move a seat on with every repetition. Raises `UsageError` if the lineups are beyond counting.
    """
    seats, symmetric = setting.game.seats, setting.game.symmetric
    programs = sorted(digests)
    count = len(programs)
    lineups = math.comb(count + seats - 1, seats) if symmetric else count**seats
    if lineups * repetitions > MOST_LINEUPS:
        raise UsageError(
            f"{count:,} bots at {seats} seats make {lineups:,} lineups, times {repetitions:,} repetitions: "
            f"at most {MOST_LINEUPS:,} matches are played; enter fewer bots"
        )
    if not symmetric:
        tables = itertools.product(programs, repeat=seats)
        return [Fixture(table, r) for table in tables for r in range(repetitions)]
    return [
        Fixture(turned(table, r % seats), r)
        for table in itertools.combinations_with_replacement(programs, seats)
        for r in range(repetitions)
    ]


def batches(
    setting: Setting,
    fixtures: Sequence[Fixture],
    workers: int,
    slow: Callable[[Fixture], bool] = lambda fixture: False,
) -> list[list[Fixture]]:
    """The fixtures in lists to be played together: wide for every program, and as many for each worker.

    Slow ones come last, fewer at a time: so that something is seen soon.
    """
    rounds = setting.repetition.rounds or _typical_rounds(setting)
    most = max(1, min(MOST_MATCHES, MOST_MOVES // (rounds * setting.game.seats)))
    late = [fixture for fixture in fixtures if slow(fixture)]
    soon = [fixture for fixture in fixtures if not slow(fixture)] if late else fixtures
    return [
        *_pieces(soon, most, workers),
        *_pieces(late, min(most, MOST_SLOW_MATCHES), workers),
    ]


def _pieces(fixtures: Sequence[Fixture], most: int, workers: int) -> list[list[Fixture]]:
    if not fixtures:
        return []
    count = len(fixtures)
    pieces = min(count, math.ceil(count / (most * workers)) * workers)
    ordered = _by_block(fixtures)
    return [ordered[n * count // pieces : (n + 1) * count // pieces] for n in range(pieces)]


def slots_to_check(plan: Sequence[Sequence[Fixture]], seed: int) -> list[list[int]]:
    """For each batch the slots that the audit replays: for each program one, and a seeded sample of all.

    A program's is its last one in a batch, after all that it may carry over between them: of the batches where it has
    many, the one with the fewest checks so far.
    """
    checks = [_sampled(fixtures, seed) for fixtures in plan]
    counts = [Counter(digest for each in fixtures for digest in each.lineup) for fixtures in plan]
    last = [_last_slots(fixtures) for fixtures in plan]
    for digest in dict.fromkeys(itertools.chain.from_iterable(counts)):
        most = max(count[digest] for count in counts)
        many = [n for n, count in enumerate(counts) if 2 * count[digest] >= most]
        fewest = min(many, key=lambda n: len(checks[n]))
        checks[fewest].append(last[fewest][digest])
    return [sorted(set(slots)) for slots in checks]


def _sampled(fixtures: Sequence[Fixture], seed: int) -> list[int]:
    """Seats drawn by lot, one in `CHECKED` of those in a batch."""
    slots = []
    for match, fixture in enumerate(fixtures):
        seats = len(fixture.lineup)
        draw = int(tape_name(seed, *fixture.lineup, fixture.repetition, "check")[:12], 16)
        if draw % CHECKED < seats:
            slots.append(match * seats + draw % CHECKED)
    return slots


def _last_slots(fixtures: Sequence[Fixture]) -> dict[str, int]:
    lineups = itertools.chain.from_iterable(fixture.lineup for fixture in fixtures)
    return {digest: slot for slot, digest in enumerate(lineups)}


def _typical_rounds(setting: Setting) -> int:
    return math.ceil(1 / (1 - (setting.repetition.continuation or 0)))


def _by_block(fixtures: Sequence[Fixture]) -> list[Fixture]:
    programs = sorted({digest for fixture in fixtures for digest in fixture.lineup})
    blocks = max(1, round(len(programs) / BLOCK))
    block = {digest: n * blocks // len(programs) for n, digest in enumerate(programs)}
    return sorted(
        fixtures,
        key=lambda f: (sorted(block[digest] for digest in f.lineup), f.repetition, f.lineup),
    )
