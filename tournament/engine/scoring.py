"""Scores what a worker played: computes the payoffs of each match and returns its outcome."""

import functools
import math
import operator
from collections import Counter
from collections.abc import Sequence

from tournament.engine.batch import ANYTHING, Batch, Played
from tournament.game import MOST_CELLS, Joint, Setting, StateGame, index
from tournament.match import Fault, Fixture, Outcome
from tournament.seeds import Tape


def outcomes(
    setting: Setting, batch: Batch, fixtures: Sequence[Fixture], played: Played
) -> list[Outcome]:
    """Return the outcome of every fixture of the batch, in the same order."""
    digest = [digest for digest, _ in batch.programs]
    leaky = {digest[number] for number in played.leaky}
    seats = batch.seats
    paid = functools.cache(functools.partial(payoffs, setting))  # many matches have the same moves
    scored = []
    for match, fixture in enumerate(fixtures):
        players = range(match * seats, match * seats + seats)
        faults = tuple(played.faults[player] for player in players if player in played.faults)
        moves = tuple(played.moves[player] for player in players)
        ended = batch.facts["episodic"] and not faults
        rounds = len(moves[0]) if ended else batch.horizons[match]
        chance = batch.tape(match, "chance") if batch.facts["episodic"] else ""
        scored.append(
            Outcome(
                fixture=fixture,
                rounds=rounds,
                moves=moves,
                payoffs=paid(moves, rounds, faults, chance),
                intended=tuple(played.intended[player] for player in players)
                if played.intended
                else None,
                faults=faults,
                fuel=tuple(played.fuel[player] for player in players),
                checked=tuple(player in played.checked for player in players),
                notes=tuple(
                    (player % seats, *played.notes[player])
                    for player in players
                    if player in played.notes
                ),
                leaky=tuple(sorted(leaky.intersection(fixture.lineup))),
            )
        )
    return scored


def reads_of(batch: Batch, played: Played) -> list[int]:
    """Return for each match, as flags, what its programs have read that may differ in another repetition.

    The flags are explained at `ANYTHING` in `batch.py`. All are set if the game itself is random or has a state.
    """
    seats = batch.seats
    hidden = batch.repetition.continuation is not None
    drawn = batch.repetition.noise > 0 or hidden or batch.facts["episodic"]
    reads = [
        ANYTHING if drawn else played.reads.get(player, ANYTHING)
        for player in range(len(played.moves))
    ]
    return [
        functools.reduce(operator.or_, reads[n : n + seats]) for n in range(0, len(reads), seats)
    ]


def payoffs(
    setting: Setting, moves: Sequence[str], rounds: int, faults: Sequence[Fault], chance: str = ""
) -> tuple[float | None, ...]:
    """Return the payoff of each seat for a match with these moves; `chance` names the tape of a game with a state.

    A seat at fault gets its payoffs so far, and its worst payoff in the game for every round that was left. If any
    seat is at fault, the other seats get None.
    """
    totals = _totals(setting, moves, chance)
    if not faults:
        return totals
    discount = setting.repetition.discount
    left = math.fsum(discount**r for r in range(len(moves[0]), rounds))
    at_fault = {fault.seat for fault in faults}
    return tuple(
        total + setting.game.worst[seat] * left if seat in at_fault else None
        for seat, total in enumerate(totals)
    )


def _totals(setting: Setting, moves: Sequence[str], chance: str) -> tuple[float, ...]:
    """Return the total payoff of each seat in the rounds played. The exact sum does not depend on their order."""
    game, discount = setting.game, setting.repetition.discount
    rounds = zip(*moves, strict=True)
    if isinstance(game, StateGame):
        episode = game.episode(Tape(chance), map(_indices, rounds))
        paid = [paid for _, paid in episode if paid is not None]
    elif discount == 1:
        paid = [
            tuple([times * payoff for payoff in game.payoff(_indices(joint))])
            for joint, times in Counter(rounds).items()
        ]
    else:
        paid = [
            tuple([discount**r * payoff for payoff in game.payoff(_indices(joint))])
            for r, joint in enumerate(rounds)
        ]
    return tuple(map(math.fsum, zip(*paid, strict=True))) if paid else (0.0,) * len(moves)


@functools.lru_cache(MOST_CELLS)
def _indices(joint: tuple[str, ...]) -> Joint:
    return tuple(map(index, joint))
