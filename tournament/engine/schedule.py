"""Decides which programs meet, which matches are played in one batch, and which players are checked."""

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
"""The number of programs in a block; the matches between two blocks are played together.

A worker therefore has about twice as many instances alive at a time.
"""
MOST_MATCHES = 4_000
MOST_SLOW_MATCHES = 200
MOST_MOVES = 1_000_000
"""Bounds on a batch: they limit what is lost when a worker dies, and the memory that its moves take."""
CHECKED = 1_000
"""One seat in this many is checked, on average, in addition to one seat of every program."""


def round_robin(setting: Setting, digests: Sequence[str], repetitions: int) -> list[Fixture]:
    """Return the fixtures in which every program meets every other and itself, with equally many repetitions.

    If the seats differ, every order of the programs is a lineup of its own. If the game is symmetric, a set of
    programs is one lineup, and its programs change seats with every repetition. Raises `UsageError` if there are more
    than `MOST_LINEUPS` matches.
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
    """Split the fixtures into lists that are each played together.

    A list has many matches for each of its programs, and every worker gets equally many lists if there are enough
    fixtures. Slow fixtures come last and in shorter lists, so that the first results arrive soon.
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
    """Split the fixtures into lists of almost equal length, at most `most`, as a multiple of `workers` if possible."""
    if not fixtures:
        return []
    count = len(fixtures)
    pieces = min(count, math.ceil(count / (most * workers)) * workers)
    ordered = _by_block(fixtures)
    return [ordered[n * count // pieces : (n + 1) * count // pieces] for n in range(pieces)]


def players_to_check(plan: Sequence[Sequence[Fixture]], seed: int) -> list[list[int]]:
    """Return for each batch the players that the audit replays: one for each program, and a random sample of all.

    The player for a program is its last one in a batch, because by then the program may have carried over the most from
    its other matches. Of the batches in which the program has at least half as many players as in any other, the one
    with the fewest checks so far is used. The sample is the same whenever the seed is the same.
    """
    checks = [_sampled(fixtures, seed) for fixtures in plan]
    counts = [Counter(digest for each in fixtures for digest in each.lineup) for fixtures in plan]
    last = [_last_players(fixtures) for fixtures in plan]
    for digest in dict.fromkeys(itertools.chain.from_iterable(counts)):
        most = max(count[digest] for count in counts)
        many = [n for n, count in enumerate(counts) if 2 * count[digest] >= most]
        fewest = min(many, key=lambda n: len(checks[n]))
        checks[fewest].append(last[fewest][digest])
    return [sorted(set(players)) for players in checks]


def _sampled(fixtures: Sequence[Fixture], seed: int) -> list[int]:
    """Return a random sample of the players of a batch: about one in `CHECKED`."""
    players = []
    for match, fixture in enumerate(fixtures):
        seats = len(fixture.lineup)
        draw = int(tape_name(seed, *fixture.lineup, fixture.repetition, "check")[:12], 16)
        if draw % CHECKED < seats:
            players.append(match * seats + draw % CHECKED)
    return players


def _last_players(fixtures: Sequence[Fixture]) -> dict[str, int]:
    """Return the last player of each program in a batch of these fixtures, by digest."""
    lineups = itertools.chain.from_iterable(fixture.lineup for fixture in fixtures)
    return {digest: player for player, digest in enumerate(lineups)}


def _typical_rounds(setting: Setting) -> int:
    """Return the expected number of rounds of a match whose horizon is hidden, rounded up."""
    return math.ceil(1 / (1 - (setting.repetition.continuation or 0)))


def _by_block(fixtures: Sequence[Fixture]) -> list[Fixture]:
    """Sort the fixtures so that those whose programs come from the same blocks are neighbours."""
    programs = sorted({digest for fixture in fixtures for digest in fixture.lineup})
    blocks = max(1, round(len(programs) / BLOCK))
    block = {digest: n * blocks // len(programs) for n, digest in enumerate(programs)}
    return sorted(
        fixtures,
        key=lambda f: (sorted(block[digest] for digest in f.lineup), f.repetition, f.lineup),
    )
