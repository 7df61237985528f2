"""In whatever turns programs move, every match goes as it does round by round."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from tests.batches import batch_of
from tournament.engine.batch import Batch
from tournament.engine.cohort import FAULTY
from tournament.engine.moves import ROUNDS, Moves
from tournament.engine.rows import MIRRORED, UNSEEN, Line, Row
from tournament.game import Repetition, Setting, code
from tournament.library import load_game

PAIRS = load_game("prisoners_dilemma")
TABLES = load_game("public_goods", {"seats": 3, "endowment": 1})

Seen = list[tuple[str, ...]]
"""The joint moves that a slot has seen, its own first."""
Played = tuple[list[str], dict[int, int]]
"""The moves by slot, and the rounds of the faults."""


@dataclass(frozen=True)
class Ways:
    """How programs answer, from all that they have seen: the `blind` from their own moves alone.

    A program that is `faulty` in a round breaks a rule in it. Calls bring as many rounds as `turns` say, if it can be
    so many, and after each it is drawn whether its program is taken out and put in again.
    """

    blind: frozenset[int]
    faulty: frozenset[tuple[int, int]]
    turns: Sequence[tuple[int, bool]]

    def answer(self, program: int, seen: Seen) -> str:
        """What a program answers."""
        if (program, len(seen)) in self.faulty:
            return "!"
        known = [joint[0] for joint in seen] if program in self.blind else seen
        return str(crc32(repr((program, known)).encode()) % 2)


class Guest:
    """Answers lines as a guest does, from nothing but what is in them."""

    def __init__(self, program: int, row: Row, ways: Ways) -> None:
        self.program = program
        self.ways = ways
        self.slots = row.slots
        self.seen: dict[int, Seen] = {slot: [] for slot in row.slots}
        self.last: dict[int, str] = {}

    def answers(self, line: Line) -> str:
        """The codes of the moves that are made to a line."""
        slots = self.slots[line.first : line.last]
        if line.text == UNSEEN:
            assert self.program in self.ways.blind
            for slot in slots:
                self.seen[slot].append((self.last[slot],))
        elif line.text:
            width = len(slots)
            columns = [line.text[n : n + width] for n in range(0, len(line.text), width)]
            shown = {
                slot: tuple(self._mirrored(slot, code) for code in codes)
                for slot, codes in zip(slots, zip(*columns, strict=True), strict=True)
            }
            for slot, codes in shown.items():
                self.seen[slot].append((self.last[slot], *codes))
        self.last |= {slot: self._answer(slot) for slot in slots}
        return "".join(self.last[slot] for slot in slots)

    def _answer(self, slot: int) -> str:
        at_fault = self.last.get(slot) == "!"
        return "!" if at_fault else self.ways.answer(self.program, self.seen[slot])

    def _mirrored(self, slot: int, code: str) -> str:
        return self.last[slot ^ 1] if code == MIRRORED else code


def faults_in(codes: str) -> dict[int, list[str]]:
    """What a guest tells of the moves that are none."""
    return {n: ["error", ""] for n, code in enumerate(codes) if code == "!"}


def put_in_again(moves: Moves, row: Row, program: int, ways: Ways) -> tuple[Row, Guest]:
    """The row with a new guest that has been taken through the rounds so far."""
    moves.take_back(row)
    row = moves.row(row.slots)
    guest = Guest(program, row, ways)
    for line, codes in moves.past(row):
        assert guest.answers(line) == codes
    return row, guest


def in_turns(batch: Batch, ways: Ways) -> Played:
    """What is played when programs take turns, of which some bring one round only, and some many."""
    moves = Moves(batch, None)
    rows = {number: moves.row(slots) for number, slots in moves.lined_up.items()}
    guests = {number: Guest(number, row, ways) for number, row in rows.items()}
    turns = iter(ways.turns)
    while any(row.slots for row in rows.values()):
        for number, row in rows.items():
            if not row.slots:
                continue
            guest = guests[number]
            rounds, again = next(turns, (ROUNDS, False))
            blind = number in ways.blind and guest.last.keys() >= {*row.slots}
            lines = moves.next(row, rounds if blind else min(rounds, ROUNDS))
            answers = [guest.answers(line) for line in lines]
            moves.add(row, [(codes, faults_in(codes)) for codes in answers])
            over = moves.over(row, patient=not blind)
            if over:
                rows[number] = moves.row([slot for slot in row.slots if slot not in over])
                guest.slots = rows[number].slots
            if again and rows[number].slots:
                rows[number], guests[number] = put_in_again(moves, rows[number], number, ways)
    return moves.columns(moves.made), {slot: each.round for slot, each in moves.faults.items()}


def round_by_round(batch: Batch, ways: Ways) -> Played:
    """The same when everybody moves at once."""
    columns, faults = [], {}
    for match, horizon in enumerate(batch.horizons):
        start = match * batch.seats
        slots = range(start, start + batch.seats)
        seen: dict[int, Seen] = {slot: [] for slot in slots}
        for number in range(horizon):
            made = {slot: ways.answer(batch.program_of(slot), seen[slot]) for slot in slots}
            if "!" in made.values():
                faults |= {slot: number for slot, code in made.items() if code == "!"}
                break
            for slot in slots:
                seen[slot].append((made[slot], *(made[other] for other in batch.others(slot))))
        columns += ["".join(joint[0] for joint in seen[slot]) for slot in slots]
    return columns, faults


@given(st.data())
def test_taking_turns_makes_the_moves_of_playing_round_by_round(data: st.DataObject) -> None:
    game = data.draw(st.sampled_from([PAIRS, TABLES]))
    names = st.sampled_from("abcd")
    lineups = data.draw(st.lists(st.tuples(*[names] * game.seats), min_size=1, max_size=6))
    hidden = data.draw(st.booleans())
    repetition = Repetition(None, 0.9) if hidden else Repetition(data.draw(st.integers(1, 40)))
    batch = batch_of(*lineups, setting=Setting(game, repetition))
    some = st.integers(0, 3)
    ways = Ways(
        blind=data.draw(st.frozensets(some)),
        faulty=data.draw(st.frozensets(st.tuples(some, st.integers(0, 40)), max_size=3)),
        turns=data.draw(
            st.lists(
                st.tuples(st.sampled_from([2, 2, 30, 1, 5]), st.sampled_from([False] * 5 + [True])),
                max_size=40,
            )
        ),
    )
    assert in_turns(batch, ways) == round_by_round(batch, ways)


def test_whoever_is_shown_nothing_is_asked_for_all_that_is_left_of_every_match() -> None:
    batch = batch_of(*["ab", "aa"] * 5, setting=Setting(PAIRS, Repetition(None, 0.9)))
    moves = Moves(batch, None)
    row = moves.row(moves.lined_up[0])
    lines = moves.next(row, 100)
    asked = [slot for line in lines for slot in row.slots[line.first : line.last]]
    assert [asked.count(slot) for slot in row.slots] == [batch.horizons[s // 2] for s in row.slots]
    assert len({*batch.horizons}) > 3


def test_no_mark_in_a_line_is_the_code_of_a_move() -> None:
    assert max(MIRRORED, UNSEEN, FAULTY, " ", "\t", "\n") < code(0)
