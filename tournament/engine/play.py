"""Plays a batch of matches in lockstep: every round is one call to each program for its moves in all of its matches.

This is fast play. It gives the same results as strict play, which uses a fresh instance for every seat of every match.
The reason is that a call for many moves gets the fuel and memory of a single move. If that ends the instance, its
matches are split up and played again from the recorded moves, down to single moves of single matches, which is strict
play. What could still differ is that a program carries something from one match to another; `audit.py` checks that.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

from tournament.engine.batch import ANYTHING, Batch, Played
from tournament.engine.group import UNSEEN, Group
from tournament.engine.matches import Matches
from tournament.game import StateGame
from tournament.sandbox.instance import Ended, Image
from tournament.sandbox.memory import Memory
from tournament.sandbox.powers import Powers

T = TypeVar("T")
PIECES = 8
"""The number of groups into which a group is split when its instance has ended."""
AHEAD = 100
"""The most rounds in one call to a program that does not seem to read the opponents' moves."""
CHEAP = 8
"""Such a call must be expected to use at most this fraction (one in `CHEAP`) of the fuel limit."""


def play(image: Image, batch: Batch, game: StateGame | None = None) -> Played:
    """Play the batch and return the moves and faults of all matches; `game` is needed only if it has a state."""
    lockstep = Lockstep(image, batch, game)
    groups = lockstep.groups()
    while groups:
        groups = [moved for group in groups for moved in lockstep.move(group)]
        if lockstep.matches.end_round():
            groups = [group for group in groups if lockstep.goes_on(group)]
    return lockstep.played()


def powers_of(image: Image, batch: Batch, memory: Memory | None = None) -> Powers:
    """Return what answers the programs' calls to `simulate` and `proves`, with nothing simulated or proved yet."""
    return Powers(image, batch.facts, batch.programs, batch.library, batch.limits, memory)


class Lockstep:
    """Plays one batch round by round."""

    def __init__(self, image: Image, batch: Batch, game: StateGame | None) -> None:
        self.matches = Matches(batch, game)
        self._image = image
        self._batch = batch
        self._fuel = [0] * len(batch.matches) * batch.seats
        self._powers = powers_of(image, batch, Memory())
        self._suspects: set[int] = set()
        self._reads: dict[int, int] = {}

    def groups(self) -> list[Group]:
        """Return the groups that play the first round: one for every program, or in strict play for every player."""
        return [
            group
            for program, players in self._batch.players.items()
            for group in self._split(program, players, 1 if self._batch.alone else len(players))
        ]

    def _split(self, program: int, players: Sequence[int], size: int) -> list[Group]:
        """Return groups of so many players each, the last of which may be smaller."""
        first = self.matches.round == 0
        blind = self.matches.foreseen and not self._batch.alone and self._batch.seems_blind(program)
        return [
            Group(self._batch, program, some, alone=first and len(some) == 1, blind=blind)
            for some in _chunks(players, size)
        ]

    def move(self, group: Group) -> list[Group]:
        """Let a group make its moves in the present round; return it, or the groups that it had to be split into."""
        pending, moved = [group], []
        while pending:
            group = pending.pop()
            try:
                if not group.loaded:
                    self._load(group)
                if not group.ready:
                    answers = group.play(self._lines(group))
                    group.ready += [(group.players, answer) for answer in answers]
            except Ended as ended:
                self._share_out(group)
                pending += self._after(group, ended)
            else:
                players, (codes, faults) = group.ready.popleft()
                self.matches.add(players, codes, faults)
                moved.append(group)
        return moved

    def _lines(self, group: Group) -> list[str]:
        """Return the lines of the next call to a group: one, unless it is blind and its moves take little fuel."""
        line = self.matches.line(group, self.matches.round)
        cheap = 0 < group.fuel_per_line * AHEAD <= self._batch.limits.fuel // CHEAP
        if not (group.blind and cheap and self.matches.round):
            return [line]
        return [line] + [UNSEEN] * (min(AHEAD, self.matches.left(group)) - 1)

    def _load(self, group: Group) -> None:
        """Load a group into a new instance, and replay the rounds so far in it. Raises `Ended`.

        If a program now moves differently, it is suspected of carrying something from one match to another.
        """
        group.load(self._image, self._powers_for_one())
        rounds = range(self.matches.round)
        lines = [self.matches.line(group, number) for number in rounds]
        calls = _chunks(lines, 1 if group.alone else len(lines))
        answers = [codes for call in calls for codes, _ in group.play(call)]
        if answers != [self.matches.moves(group, number) for number in rounds]:
            self._suspects.add(group.program)

    def _powers_for_one(self) -> Powers:
        """Return the powers of an instance. In strict play no two instances share anything that could change a move."""
        if not self._batch.alone:
            return self._powers
        powers = powers_of(self._image, self._batch)
        powers.notes, powers.drawn = self._powers.notes, self._powers.drawn
        return powers

    def _after(self, group: Group, ended: Ended) -> list[Group]:
        """Return the groups that are to be tried after a group's instance has ended.

        If the group was alone already, that is a fault of its player, and there is no group left to try.
        """
        players: list[int] = group.players.tolist()
        if len(players) > 1 and not group.blind:
            return self._split(group.program, players, math.ceil(len(players) / PIECES))
        if not group.alone:
            return [Group(self._batch, group.program, players, alone=len(players) == 1)]
        self.matches.fault(players[0], ended.kind, ended.message)
        return []

    def goes_on(self, group: Group) -> bool:
        """Remove the players whose matches are over from a group; return whether any player is left."""
        over = self.matches.over(group)
        if over:
            self._share_out(group)
            self._reads |= group.drop(over)
        return len(group.players) > 0

    def _share_out(self, group: Group) -> None:
        """Divide the fuel that a group has used equally among its players."""
        for player in group.players.tolist():
            self._fuel[player] += group.fuel_used // len(group.players)
        group.fuel_used = 0

    def played(self) -> Played:
        """Return the result."""
        matches = self.matches
        return Played(
            matches.columns(matches.shown),
            matches.columns(matches.made) if matches.shown is not matches.made else None,
            matches.faults,
            self._fuel,
            notes=self._powers.notes,
            reads=self._reads | dict.fromkeys(self._powers.drawn, ANYTHING),
            leaky=self._suspects,
        )


def _chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """Return the items in pieces of the given size; the last piece may be shorter."""
    return [items[start : start + size] for start in range(0, len(items), max(1, size))]
