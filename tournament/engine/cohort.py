"""Matches of one program in one instance."""

import json
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from tournament.engine.batch import Batch
from tournament.sandbox.instance import Image
from tournament.sandbox.powers import Place, Powers

Answer = tuple[str, dict[int, list[str]]]
"""The codes of the moves made in a round, and the faults by position."""


class Cohort:
    """Slots of one program that share an instance and move in lockstep."""

    def __init__(
        self, image: Image, batch: Batch, program: int, slots: Sequence[int], powers: Powers
    ) -> None:
        self.batch = batch
        self.slots = list(slots)
        self._powers = powers
        self._places = [self._place(slot) for slot in slots]
        setup = {
            "game": batch.facts,
            "programs": [digest for digest, _ in batch.programs],
            "matches": [
                [place.seat, place.lineup, place.private, [place.shared, 0]]
                for place in self._places
            ],
        }
        source = batch.programs[program][1]
        self.instance = image.instance(source, setup, self._host, batch.limits)
        self.see = columns(batch.seats, self.slots)

    def play(self, lines: Sequence[str]) -> list[Answer]:
        """The answers to these lines, each the joint moves of the round before. Raises `Ended`."""
        return [_parsed(answer) for answer in self.instance.play("\n".join(lines)).split("\n")]

    def drop(self, over: set[int]) -> set[int]:
        """End the matches of the slots that are over; return those whose program looked at no tape. Raises `Ended`."""
        gone = {slot: n for n, slot in enumerate(self.slots) if slot in over}
        if not gone:
            return set()
        self.slots = [slot for slot in self.slots if slot not in over]
        if self.slots:
            self.see = columns(self.batch.seats, self.slots)
        drew = self.instance.drop(list(gone.values()))
        return {slot for slot, flag in zip(gone, drew, strict=False) if flag == "0"}

    def _place(self, slot: int) -> Place:
        match, seat = divmod(slot, self.batch.seats)
        private, shared = self.batch.tape(match, "private", seat), self.batch.tape(match, "shared")
        return Place(slot, self.batch.matches[match][0], seat, private, shared)

    def _host(self, request: str) -> str:
        return self._powers.answer(self.instance, self._places, request)


def columns(seats: int, slots: Iterable[int]) -> "itemgetter[Any]":
    """Picks out of a row of codes what these slots see: the own moves, then those of each seat further round."""
    slots = list(slots)
    return itemgetter(
        *(slot - slot % seats + (slot + turn) % seats for turn in range(seats) for slot in slots)
    )


def _parsed(answer: str) -> Answer:
    codes, _, faults = answer.partition(" ")
    return codes, {int(n): fault for n, fault in json.loads(faults or "{}").items()}
