"""Plays a batch of matches in lockstep: every program in one instance, one call for a round of all its matches.

This is fast play. It means the same as strict play (a fresh instance for every seat of every match) because a call
for many matches gets the fuel and memory of one: what ends an instance here is split and played again from the moves
on record, down to single matches, and a single match is strict play. `audit.py` checks what is left to check.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tournament.engine.batch import ANYTHING, Batch, Played
from tournament.engine.cohort import Answer, Cohort
from tournament.engine.episodes import Episodes
from tournament.game import StateGame, code, index
from tournament.match import Fault
from tournament.sandbox.instance import Ended, Image
from tournament.sandbox.powers import Powers
from tournament.seeds import Tape

PARTS = 8
"""Into how many parts a cohort is split when its instance has come to its end."""

OVER = " "
"""Stands in a row for the slots of matches that are over."""


@dataclass
class Part:
    """Slots that move together; without a cohort they must be seated first. `burnt` is fuel not yet shared out."""

    program: int
    slots: list[int]
    cohort: Cohort | None = None
    burnt: int = 0


def play(image: Image, batch: Batch, game: StateGame | None = None) -> Played:
    """The moves and faults of every match of the batch; `game` is given where it has a state."""
    return Lockstep(image, batch, game).played()


def powers_of(image: Image, batch: Batch) -> Powers:
    """The powers of a batch's programs, with nothing simulated or proved yet."""
    return Powers(image, batch.facts, batch.programs, batch.library, batch.limits)


class Lockstep:
    """A batch in play. `rows` are strings of codes by slot, one for each round; `intended` is before noise."""

    def __init__(self, image: Image, batch: Batch, game: StateGame | None) -> None:
        self.image = image
        self.batch = batch
        self.episodes = Episodes(game, batch) if game else None
        self.rows: list[str] = []
        self.intended: list[str] = []
        self.faults: dict[int, Fault] = {}
        self.fuel = [0] * (len(batch.matches) * batch.seats)
        self.powers = powers_of(image, batch)
        self.suspects: set[int] = set()
        self.looked: dict[int, int] = {}
        self.parts = [
            Part(program, slots)
            for program, all_slots in batch.slots.items()
            for slots in ([[slot] for slot in all_slots] if batch.alone else [all_slots])
            if slots
        ]
        noise = batch.repetition.noise
        matches = range(len(batch.matches)) if noise else ()
        self.noise = {match: Tape(batch.tape(match, "noise")) for match in matches}

    def played(self) -> Played:
        """Play to the end."""
        while self.parts:
            self._round()
        moves = _by_slot(self.rows, len(self.fuel))
        intended = _by_slot(self.intended, len(self.fuel)) if self.noise else None
        return Played(
            moves,
            intended,
            self.faults,
            self.fuel,
            notes=self.powers.notes,
            looked=self.looked | dict.fromkeys(self.powers.drawn, ANYTHING),
            leaky=self.suspects,
        )

    def _round(self) -> None:
        row = [OVER] * len(self.fuel)
        parts, self.parts = self.parts, []
        for part in parts:
            self._move(part, row)
        self._end_faulted(row)
        self.intended.append("".join(row))
        if self.noise:
            self._disturb(row)
        self.rows.append("".join(row))
        if self.episodes:
            self._step(self.episodes)
        self._end_matches()

    def _move(self, part: Part, row: list[str]) -> None:
        """Put the moves of a part into the row, splitting it as far as its instance comes to its end."""
        pending = [part]
        while pending:
            part = pending.pop()
            try:
                answer = self._answer(part)
            except Ended as ended:
                self._share_out(part)
                if len(part.slots) == 1:
                    self._fault(part.slots[0], [ended.kind, ended.message])
                else:
                    pending += [Part(part.program, slots) for slots in _split(part.slots)]
            else:
                self._take(answer, part.slots, row)
                self.parts.append(part)

    def _answer(self, part: Part) -> Answer:
        """The part's answer for this round; its cohort is seated if need be. Raises `Ended`."""
        before = part.cohort.instance.burnt if part.cohort else 0
        try:
            if part.cohort is None:
                part.cohort, answer = self._seated(part)
            else:
                [answer] = part.cohort.play([self._line(part.cohort, len(self.rows))])
        except Ended as ended:
            part.burnt += ended.burnt - before
            raise
        part.burnt += part.cohort.instance.burnt - before
        if len(part.slots) > 1 and any(fault[0] == "memory" for fault in answer[1].values()):
            raise Ended("memory", "ran out of memory")
        return answer

    def _seated(self, part: Part) -> tuple[Cohort, Answer]:
        """A fresh cohort, taken through the rounds so far, and its answer for this one. Raises `Ended`."""
        cohort = self._cohort(part)
        lines = [self._line(cohort, number) for number in range(len(self.rows) + 1)]
        try:
            answers = cohort.play(lines)
        except Ended:
            if len(part.slots) > 1 or len(lines) == 1:
                raise
            cohort = self._cohort(part)
            answers = [cohort.play([line])[0] for line in lines]
        self._compare(part, answers[:-1])
        return cohort, answers[-1]

    def _cohort(self, part: Part) -> Cohort:
        """A fresh cohort. In strict play nothing at all is shared, not even what others had simulated."""
        powers = powers_of(self.image, self.batch) if self.batch.alone else self.powers
        powers.notes, powers.drawn = self.powers.notes, self.powers.drawn
        return Cohort(self.image, self.batch, part.program, part.slots, powers)

    def _line(self, cohort: Cohort, number: int) -> str:
        seen = self.episodes.seen(number, cohort.slots) if self.episodes else ""
        return ("".join(cohort.see(self.rows[number - 1])) if number else "") + seen

    def _share_out(self, part: Part) -> None:
        """Charge the part's slots alike for the fuel it has burnt."""
        for slot in part.slots:
            self.fuel[slot] += part.burnt // len(part.slots)
        part.burnt = 0

    def _compare(self, part: Part, answers: Sequence[Answer]) -> None:
        """Suspect a program that answers differently when it is taken through the same rounds again."""
        for (codes, _), row in zip(answers, self.intended, strict=True):
            if codes != "".join(row[slot] for slot in part.slots):
                self.suspects.add(part.program)

    def _take(self, answer: Answer, slots: list[int], row: list[str]) -> None:
        codes, faults = answer
        for slot, character in zip(slots, codes, strict=True):
            row[slot] = character
        for position, fault in faults.items():
            self._fault(slots[position], fault)

    def _fault(self, slot: int, fault: Sequence[str]) -> None:
        self.faults[slot] = Fault(slot % self.batch.seats, fault[0], len(self.rows), *fault[1:])

    def _end_faulted(self, row: list[str]) -> None:
        """A round in which a seat broke a rule was not played: take the others' moves back."""
        seats = self.batch.seats
        for slot in self.faults:
            start = slot - slot % seats
            row[start : start + seats] = [OVER] * seats

    def _disturb(self, row: list[str]) -> None:
        """Replace moves by others with the probability of noise."""
        noise = self.batch.repetition.noise
        for match, tape in self.noise.items():
            for seat, legal in enumerate(self.batch.facts["moves"]):
                slot = match * self.batch.seats + seat
                if row[slot] != OVER and tape.random() < noise:
                    shift = 1 + int(tape.random() * (len(legal) - 1))
                    row[slot] = code((index(row[slot]) + shift) % len(legal))

    def _step(self, episodes: Episodes) -> None:
        """Bring the states of all matches that played this round on."""
        seats, row = self.batch.seats, self.rows[-1]
        for match in range(len(self.batch.matches)):
            joint = row[match * seats : (match + 1) * seats]
            if OVER not in joint:
                episodes.step(match, joint)

    def _end_matches(self) -> None:
        """Drop the matches that are over, for a fault or because they have come to their horizon."""
        seats, round_number = self.batch.seats, len(self.rows)
        faulted = {slot // seats for slot, fault in self.faults.items()}
        ended = [
            match
            for match, horizon in enumerate(self.batch.horizons)
            if horizon == round_number
            or match in faulted
            or (self.episodes and self.episodes.over(match))
        ]
        over = {match * seats + seat for match in ended for seat in range(seats)}
        if over:
            self.parts = [left for part in self.parts if (left := self._without(part, over)).slots]

    def _without(self, part: Part, over: set[int]) -> Part:
        slots = [slot for slot in part.slots if slot not in over]
        if len(slots) == len(part.slots) or part.cohort is None:
            return Part(part.program, slots, part.cohort, part.burnt)
        self._share_out(part)
        try:
            self.looked |= part.cohort.drop(over)
        except Ended:
            return Part(part.program, slots)
        return Part(part.program, slots, part.cohort)


def _split(slots: list[int]) -> list[list[int]]:
    size = -(-len(slots) // PARTS)
    return [slots[start : start + size] for start in range(0, len(slots), size)]


def _by_slot(rows: list[str], slots: int) -> list[str]:
    columns = map("".join, zip(*rows, strict=True)) if rows else [""] * slots
    return [column.rstrip(OVER) for column in columns]
