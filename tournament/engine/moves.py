"""Keeps the moves made so far in the matches of a batch, and works out which moves can be asked for next."""

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
"""The most moves that a program makes in a match in one turn if it is shown the moves of the others."""

Faults = Mapping[int, Sequence[str]]
"""The faults in an answer, by position in the line: kind, message, traceback and what the bot printed."""


class Moves:
    """The moves of a batch: `made` by the programs, and `shown` to them, which are the same moves after noise.

    On both boards the slots of a program have consecutive positions, in the order of `lined_up`.
    """

    def __init__(self, batch: Batch, game: StateGame | None) -> None:
        self._batch = batch
        self.lined_up = {number: lined_up(batch, slots) for number, slots in batch.slots.items()}
        order = itertools.chain.from_iterable(self.lined_up.values())
        self._place = {slot: place for place, slot in enumerate(order)}
        self._noise = Noise(batch) if batch.repetition.noise else None
        self._episodes = Episodes(game, batch) if game else None
        self.foreseen = self._noise is None and self._episodes is None
        """Whether the moves alone decide what a round shows to the seats: there is neither noise nor a game state."""
        self.made = Board(len(self._place))
        self.shown = Board(len(self._place)) if self._noise else self.made
        self.faults: dict[int, Fault] = {}
        self._done = [0] * len(self._place)
        """By position on the board: how many moves the slot has made."""
        self._until = [batch.horizons[slot // batch.seats] for slot in self._place]
        """By position on the board: after how many moves the slot has no move left."""
        self._changes = 0
        """How often the plan of a row has changed or a match has ended early."""

    def row(self, slots: list[int]) -> Row:
        """Return a row of these slots."""
        turns = range(1 if self.foreseen else 0, self._batch.seats)
        others = [self._places(self._batch.turned(slot, turn) for slot in slots) for turn in turns]
        pairs = paired(slots) if self.foreseen and self._batch.seats == 2 else 0
        return Row(slots, self._places(slots), others, pairs)

    def _places(self, slots: Iterable[int]) -> list[int]:
        return [self._place[slot] for slot in slots]

    def over(self, row: Row, *, patient: bool = False) -> set[int]:
        """Return the slots of the row that have no move left.

        With `patient`, return none of them while one more turn may end all remaining matches of the row.
        """
        if row.steady == self._changes and row.longest < row.soonest:
            return set()
        left = {slot: self._left(place) for slot, place in zip(row.slots, row.places, strict=True)}
        soon = 0 < max(left.values()) <= ROUNDS
        return set() if patient and soon else {slot for slot, rounds in left.items() if rounds <= 0}

    def next(self, row: Row, rounds: int) -> list[Line]:
        """Return the next lines for the row: they ask each slot for all moves that it can make now, at most `rounds`.

        With more than `ROUNDS`, the slots are shown no moves of others. While no plan in the batch changes, every turn
        is like the one before and the row's plan needs no check. This is safe because a slot that is more than one
        round ahead either has no move left, or waits, and then its row is planned anew in every turn.
        """
        if rounds > ROUNDS:
            self._look_away(row, rounds)
        elif row.steady != self._changes or rounds != ROUNDS or row.longest + rounds > row.soonest:
            self._look(row, rounds)
        row.longest += rounds
        return [self._line(row, ask, sight) for ask in row.plan for sight in ask.sights]

    def _look_away(self, row: Row, rounds: int) -> None:
        """Plan a turn in which no moves of others are shown."""
        ahead = [min(rounds, self._left(place)) for place in row.places]
        row.plan, row.leads = row.planned(ahead, self._done, unseen=True), []
        self._changes += 1

    def take_back(self, row: Row) -> None:
        """Forget moves of the row until no slot is more than one move ahead of the others in its match."""
        for slot, place in zip(row.slots, row.places, strict=True):
            known = min(self._done[other] for other in self._places(self._batch.others(slot)))
            self._done[place] = min(self._done[place], known + 1)

    def _left(self, place: int) -> int:
        """Return how many moves the slot at this position of the board has left."""
        return self._until[place] - self._done[place]

    def _look(self, row: Row, rounds: int) -> None:
        """Find out how far the matches of the row are, and plan anew if its plan no longer holds."""
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
        """Return how many moves each slot can make now, at most `most`.

        A slot can move until it has made one move more than the slowest other seat of its match.
        """
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
        """Return lines that ask for all moves of the row so far, each with the codes of the moves that were made."""
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
        """Add the answers to the lines that `next` last returned: the codes of the moves, and the faults."""
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
                # A fault in an earlier answer may have ended the match, and what came after it does not count.
                if self._left(place) > 0:
                    if position in faults:
                        self.fault(slot, faults[position])
                    else:
                        self._put(place, [slot], [codes[position]])

    def _put(self, place: int, slots: Sequence[int], made: list[str]) -> None:
        """Record moves of slots that have made equally many so far and have consecutive positions from `place` on.

        `made` has one string for each round, with the code of one move for each slot.
        """
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
        """Record that a slot broke a rule instead of moving, which ends its match with this round.

        `told` is the kind of the fault and its message, and the traceback and the output if there are any.
        """
        place = self._place[slot]
        number = self._done[place]
        for other in self._batch.others(slot):
            # A slot that is shown no moves may have run ahead and broken a rule in a later round,
            # which this match now never reaches.
            if other in self.faults and self.faults[other].round > number:
                del self.faults[other]
        self.faults[slot] = Fault(slot % self._batch.seats, told[0], number, *told[1:])
        self._end(slot // self._batch.seats, number + 1)
        self._until[place] = number

    def columns(self, board: Board) -> list[str]:
        """Return the moves on a board as one string for each slot, without a round in which a seat broke a rule."""
        by_place = board.columns(self._done)
        columns = [by_place[self._place[slot]] for slot in range(len(by_place))]
        for slot, fault in self.faults.items():
            for other in [slot, *self._batch.others(slot)]:
                columns[other] = columns[other][: fault.round]
        return columns

    def _step(self, match: int, episodes: Episodes) -> None:
        """Advance the state of a match by one round if all of its seats have moved."""
        places = self._at(match)
        number = episodes.rounds(match)
        if min(self._done[place] for place in places) > number:
            episodes.step(match, [self.shown.rounds[number][place] for place in places])
            if episodes.over(match):
                self._end(match, number + 1)

    def _end(self, match: int, rounds: int) -> None:
        """End a match after so many rounds, if it would not end before."""
        self._changes += 1
        for place in self._at(match):
            self._until[place] = min(self._until[place], rounds)

    def _at(self, match: int) -> list[int]:
        """Return the positions on the board of the seats of a match."""
        start = match * self._batch.seats
        return self._places(range(start, start + self._batch.seats))
