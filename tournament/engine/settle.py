"""Turns what a worker played into outcomes: who is paid what."""

import math
from collections import Counter
from collections.abc import Sequence

from tournament.engine.batch import Batch, Played
from tournament.game import Setting, index
from tournament.match import Fault, Fixture, Outcome


def outcomes(
    setting: Setting, batch: Batch, fixtures: Sequence[Fixture], played: Played
) -> list[Outcome]:
    """The outcome of every fixture of the batch, in the same order."""
    digest = [digest for digest, _ in batch.programs]
    leaky = {digest[number] for number in played.leaky}
    seats = batch.seats
    settled = []
    for match, fixture in enumerate(fixtures):
        slots = range(match * seats, match * seats + seats)
        faults = tuple(played.faults[slot] for slot in slots if slot in played.faults)
        moves = tuple(played.moves[slot] for slot in slots)
        settled.append(
            Outcome(
                fixture=fixture,
                rounds=batch.horizons[match],
                moves=moves,
                payoffs=payoffs(setting, moves, batch.horizons[match], faults),
                intended=played.intended and tuple(played.intended[slot] for slot in slots),
                faults=faults,
                fuel=tuple(played.fuel[slot] for slot in slots),
                checked=tuple(slot in played.checked for slot in slots),
                notes=tuple(
                    (slot % seats, *played.notes[slot]) for slot in slots if slot in played.notes
                ),
                leaky=tuple(sorted(leaky.intersection(fixture.lineup))),
            )
        )
    return settled


def repeatable(batch: Batch, played: Played) -> list[bool]:
    """Of each match, whether it is the same in every repetition: nothing in it was drawn from a tape."""
    seats = batch.seats
    drawn = batch.repetition.noise > 0 or batch.repetition.continuation is not None
    return [
        not drawn and all(match * seats + seat in played.tapeless for seat in range(seats))
        for match in range(len(batch.matches))
    ]


def payoffs(
    setting: Setting, moves: Sequence[str], rounds: int, faults: Sequence[Fault]
) -> tuple[float | None, ...]:
    """What each seat gets for a match with these moves.

    A seat at fault gets the game's worst payoff for every round that was left; where a seat is at fault, the
    others get None.
    """
    discount = setting.repetition.discount
    totals = _counted(setting, moves) if discount == 1 else _discounted(setting, moves)
    if not faults:
        return totals
    left = math.fsum(discount**r for r in range(len(moves[0]), rounds))
    at_fault = {fault.seat for fault in faults}
    return tuple(
        total + setting.game.worst[seat] * left if seat in at_fault else None
        for seat, total in enumerate(totals)
    )


def _counted(setting: Setting, moves: Sequence[str]) -> tuple[float, ...]:
    """Undiscounted totals: exact sums, whatever the order of rounds."""
    counts = Counter(zip(*moves, strict=True))
    paid = [
        [times * payoff for payoff in setting.game.payoff(tuple(map(index, joint)))]
        for joint, times in counts.items()
    ]
    return tuple(map(math.fsum, zip(*paid, strict=True))) if paid else (0.0,) * len(moves)


def _discounted(setting: Setting, moves: Sequence[str]) -> tuple[float, ...]:
    joints = [tuple(map(index, joint)) for joint in zip(*moves, strict=True)]
    paid = setting.paid(joints)
    return tuple(map(math.fsum, zip(*paid, strict=True))) if paid else (0.0,) * len(moves)
