"""What has been moved in the matches of a batch, and what can be moved next."""

import itertools
from collections.abc import Iterable, Mapping, Sequence

from tournament.engine.batch import Batch
from tournament.engine.board import Board
from tournament.engine.episodes import Episodes
from tournament.engine.noise import Noise
from tournament.engine.rows import Ask, Line, Row, Sight, lined_up, paired, runs
from tournament.game import StateGame
from tournament.match import Fault

ROUNDS = 2
"""The most rounds of a match that a program can move in before the others do, if it looks at what they do."""

Faults = Mapping[int, Sequence[str]]
"""What is told of faults, by position in a line."""


class Moves:
    """The moves of a batch: `made` by the programs, and `shown`, which is the same after noise.

    On these boards the places of a program's slots stand side by side, as they are `lined_up`.
    """

    def __init__(self, batch: Batch, game: StateGame | None) -> None:
        self._batch = batch
        self.lined_up = {number: lined_up(batch, slots) for number, slots in batch.slots.items()}
        order = itertools.chain.from_iterable(self.lined_up.values())
        self._place = {slot: place for place, slot in enumerate(order)}
        self._noise = Noise(batch) if batch.repetition.noise else None
        self._episodes = Episodes(game, batch) if game else None
        self.foreseen = self._noise is None and self._episodes is None
        """Whether all that a round brings is known as soon as the moves are made."""
        self.made = Board(len(self._place))
        self.shown = Board(len(self._place)) if self._noise else self.made
        self.faults: dict[int, Fault] = {}
        self._done = [0] * len(self._place)
        """By place, in how many rounds there is a move."""
        self._until = [batch.horizons[slot // batch.seats] for slot in self._place]
        self._changes = 0
        """How often a plan has changed, or a match has ended early."""

    def row(self, slots: list[int]) -> Row:
        """These slots side by side."""
        turns = range(1 if self.foreseen else 0, self._batch.seats)
        others = [self._places(self._batch.turned(slot, turn) for slot in slots) for turn in turns]
        pairs = paired(slots) if self.foreseen and self._batch.seats == 2 else 0
        return Row(slots, self._places(slots), others, pairs)

    def _places(self, slots: Iterable[int]) -> list[int]:
        return [self._place[slot] for slot in slots]

    def over(self, row: Row, *, patient: bool = False) -> set[int]:
        """The slots of the row that have no move left to make; if patient, none while a turn may end all the others."""
        if row.steady == self._changes and row.longest < row.soonest:
            return set()
        left = {slot: self._left(place) for slot, place in zip(row.slots, row.places, strict=True)}
        soon = 0 < max(left.values()) <= ROUNDS
        return set() if patient and soon else {slot for slot, rounds in left.items() if rounds <= 0}

    def next(self, row: Row, rounds: int) -> list[Line]:
        """What the row is asked next: for all the moves that it can make now, but no more rounds of them.

        With more than `ROUNDS` it is shown nothing. As long as no plan changes, every turn is like the one before, and
        nothing need be compared: whoever is further ahead than by a round either waits, and then plans anew every turn,
        or is through.
        """
        if rounds > ROUNDS:
            self._look_away(row, rounds)
        elif row.steady != self._changes or rounds != ROUNDS or row.longest + rounds > row.soonest:
            self._look(row, rounds)
        row.longest += rounds
        return [self._line(row, ask, sight) for ask in row.plan for sight in ask.sights]

    def _look_away(self, row: Row, rounds: int) -> None:
        """Plan a turn in which nothing is seen."""
        ahead = [min(rounds, self._left(place)) for place in row.places]
        row.plan, row.leads = row.planned(ahead, self._done, unseen=True), []
        self._changes += 1

    def take_back(self, row: Row) -> None:
        """Forget the moves of the row that were made more than one before the others': they can be made again."""
        for slot, place in zip(row.slots, row.places, strict=True):
            known = min(self._done[other] for other in self._places(self._batch.others(slot)))
            self._done[place] = min(self._done[place], known + 1)

    def _left(self, place: int) -> int:
        return self._until[place] - self._done[place]

    def _look(self, row: Row, rounds: int) -> None:
        """See how far the row's matches are, and whether its plan still holds."""
        done = [self._done[place] for place in row.places]
        leads = [
            [min(self._done[other] - own, ROUNDS) for other, own in zip(others, done, strict=True)]
            for others in row.others
        ]
        row.longest, row.soonest = max(done), min(self._until[place] for place in row.places)
        ending = row.longest + rounds > row.soonest
        if ending or leads != row.leads or rounds != ROUNDS:
            row.plan = row.planned(self._ahead(row, leads, rounds), self._done)
            row.leads = [] if ending or not min(done) or rounds != ROUNDS else leads
            self._changes += 1
        else:
            row.steady = self._changes

    def _ahead(self, row: Row, leads: list[list[int]], most: int) -> list[int]:
        """How many moves each slot can make: until it has moved once more than the others of its match."""
        others = leads if self.foreseen else leads[1:]
        ahead = [min(*lead, most - 1) + 1 for lead in zip(*others, strict=True)]
        if row.paired:
            ahead[-row.paired :] = [most] * row.paired
        return [*map(min, ahead, map(self._left, row.places))]

    def _line(self, row: Row, ask: Ask, sight: Sight) -> Line:
        text = ""
        for place, seen in sight.getters:
            text += "".join(seen(self.shown.rounds[self._done[place] + sight.step - 1]))
        if self._episodes:
            slots = slice(ask.first, ask.last)
            rounds = [self._done[place] for place in row.places[slots]]
            text += self._episodes.seen(row.slots[slots], rounds)
        return Line(ask.first, ask.last, text + sight.mark)

    def past(self, row: Row) -> list[tuple[Line, str]]:
        """What the row was asked so far, and what it answered."""
        done = [self._done[place] for place in row.places]
        return [
            self._answered(row, number, first, last)
            for number in range(max(done))
            for first, last in runs([count > number for count in done])
        ]

    def _answered(self, row: Row, number: int, first: int, last: int) -> tuple[Line, str]:
        text = ""
        if number:
            seen = self.shown.rounds[number - 1]
            text = "".join([seen[place] for others in row.others for place in others[first:last]])
        if self._episodes:
            text += self._episodes.seen(row.slots[first:last], [number] * (last - first))
        made = self.made.rounds[number]
        return Line(first, last, text), "".join([made[place] for place in row.places[first:last]])

    def add(self, row: Row, answers: Sequence[tuple[str, Faults]]) -> None:
        """Add the answers to what was last asked: to each line the codes of the moves, and by position the faults."""
        start = 0
        for first, last, stretches, sights in row.plan:
            given = answers[start : start + len(sights)]
            start += len(sights)
            codes, faults = zip(*given, strict=True)
            if any(faults):
                self._add_each(row.slots[first:last], given)
                continue
            for begin, end, place, _ in stretches:
                made = [each[begin - first : end - first] for each in codes]
                self._put(place, row.slots[begin:end], made)

    def _add_each(self, slots: list[int], answers: Sequence[tuple[str, Faults]]) -> None:
        for codes, faults in answers:
            for position, (slot, place) in enumerate(zip(slots, self._places(slots), strict=True)):
                # Whoever met a program at fault in the line before was still asked once more.
                if self._left(place) > 0:
                    if position in faults:
                        self.fault(slot, faults[position])
                    else:
                        self._put(place, [slot], [codes[position]])

    def _put(self, place: int, slots: Sequence[int], made: list[str]) -> None:
        """Put down moves of slots that stand side by side, from a place on, and have made as many as one another."""
        number = self._done[place]
        self.made.put(number, place, made)
        if self._noise:
            disturbed = map(self._noise.disturbed, slots, itertools.repeat(number), *made)
            self.shown.put(number, place, ["".join(disturbed)])
        self._done[place : place + len(slots)] = [number + len(made)] * len(slots)
        if self._episodes:
            for slot in slots:
                self._step(slot // self._batch.seats, self._episodes)

    def fault(self, slot: int, told: Sequence[str]) -> None:
        """A slot has broken a rule instead of moving: its match is over after this round."""
        place = self._place[slot]
        number = self._done[place]
        for other in self._batch.others(slot):
            # Whoever is shown nothing may have been further: to where the match does not come.
            if other in self.faults and self.faults[other].round > number:
                del self.faults[other]
        self.faults[slot] = Fault(slot % self._batch.seats, told[0], number, *told[1:])
        self._end(slot // self._batch.seats, number + 1)
        self._until[place] = number

    def columns(self, board: Board) -> list[str]:
        """Moves as strings by slot. A round in which a seat broke a rule was not played: it is left out."""
        by_place = board.columns(self._done)
        columns = [by_place[self._place[slot]] for slot in range(len(by_place))]
        for slot, fault in self.faults.items():
            for other in [slot, *self._batch.others(slot)]:
                columns[other] = columns[other][: fault.round]
        return columns

    def _step(self, match: int, episodes: Episodes) -> None:
        """Bring the state of a match on, if all have moved."""
        places = self._at(match)
        number = episodes.rounds(match)
        if min(self._done[place] for place in places) > number:
            episodes.step(match, [self.shown.rounds[number][place] for place in places])
            if episodes.over(match):
                self._end(match, number + 1)

    def _end(self, match: int, rounds: int) -> None:
        self._changes += 1
        for place in self._at(match):
            self._until[place] = min(self._until[place], rounds)

    def _at(self, match: int) -> list[int]:
        """The places of a match's seats."""
        start = match * self._batch.seats
        return self._places(range(start, start + self._batch.seats))
