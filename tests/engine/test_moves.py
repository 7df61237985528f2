"""In whatever turns programs move, every match goes as it does round by round."""

from collections.abc import Sequence
from zlib import crc32

from hypothesis import given
from hypothesis import strategies as st

from tests.batches import batch_of
from tournament.engine.batch import Batch
from tournament.engine.moves import MIRRORED, ROUNDS, Line, Moves, Row, lined_up
from tournament.game import Repetition, Setting
from tournament.library import load_game

PAIRS = load_game("prisoners_dilemma")
TABLES = load_game("public_goods", {"seats": 3, "endowment": 1})

Seen = list[tuple[str, ...]]
"""The joint moves that a slot has seen, its own first."""


def answer(program: int, seen: Seen, faulty: frozenset[tuple[int, int]]) -> str:
    """What a program answers: it depends on all that it has seen, and in some rounds it breaks a rule."""
    if (program, len(seen)) in faulty:
        return "!"
    return str(crc32(repr((program, seen)).encode()) % 2)


class Guest:
    """Answers lines as a guest does, from nothing but what is in them."""

    def __init__(self, program: int, row: Row, faulty: frozenset[tuple[int, int]]) -> None:
        self.program = program
        self.faulty = faulty
        self.slots = row.slots
        self.seen: dict[int, Seen] = {slot: [] for slot in row.slots}
        self.last: dict[int, str] = {}

    def answers(self, line: Line) -> str:
        """The codes of the moves that are made to a line."""
        slots = self.slots[line.first : line.last]
        if line.text:
            width = len(slots)
            columns = [line.text[n : n + width] for n in range(0, len(line.text), width)]
            shown = {
                slot: tuple(self._mirrored(slot, code) for code in codes)
                for slot, codes in zip(slots, zip(*columns, strict=True), strict=True)
            }
            for slot, codes in shown.items():
                self.seen[slot].append((self.last[slot], *codes))
        self.last |= {slot: answer(self.program, self.seen[slot], self.faulty) for slot in slots}
        return "".join(self.last[slot] for slot in slots)

    def _mirrored(self, slot: int, code: str) -> str:
        return self.last[slot ^ 1] if code == MIRRORED else code


def in_turns(batch: Batch, faulty: frozenset[tuple[int, int]], rounds: Sequence[int]) -> list[str]:
    """The moves by slot when programs take turns, some of which bring one round only."""
    moves = Moves(batch, None)
    rows = {number: moves.row(lined_up(batch, slots)) for number, slots in batch.slots.items()}
    guests = {number: Guest(number, row, faulty) for number, row in rows.items()}
    most = iter(rounds)
    while any(row.slots for row in rows.values()):
        for number, row in rows.items():
            if not row.slots:
                continue
            for line in moves.next(row, next(most, ROUNDS)):
                codes = guests[number].answers(line)
                faults = {n: ["error", ""] for n, code in enumerate(codes) if code == "!"}
                moves.add(row, line, codes, faults)
            over = moves.over(row)
            if over:
                rows[number] = moves.row([slot for slot in row.slots if slot not in over])
                guests[number].slots = rows[number].slots
    return moves.columns(moves.made)


def round_by_round(batch: Batch, faulty: frozenset[tuple[int, int]]) -> list[str]:
    """The same when everybody moves at once."""
    columns = []
    for match, horizon in enumerate(batch.horizons):
        start = match * batch.seats
        slots = range(start, start + batch.seats)
        seen: dict[int, Seen] = {slot: [] for slot in slots}
        for _ in range(horizon):
            made = {s: answer(batch.program_of(s), seen[s], faulty) for s in slots}
            if "!" in made.values():
                break
            for slot in slots:
                seen[slot].append((made[slot], *(made[other] for other in batch.others(slot))))
        columns += ["".join(joint[0] for joint in seen[slot]) for slot in slots]
    return columns


@given(st.data())
def test_taking_turns_makes_the_moves_of_playing_round_by_round(data: st.DataObject) -> None:
    game = data.draw(st.sampled_from([PAIRS, TABLES]))
    names = st.sampled_from("abcd")
    lineups = data.draw(st.lists(st.tuples(*[names] * game.seats), min_size=1, max_size=9))
    hidden = data.draw(st.booleans())
    repetition = Repetition(None, 0.8) if hidden else Repetition(data.draw(st.integers(1, 9)))
    batch = batch_of(*lineups, setting=Setting(game, repetition))
    faulty = frozenset(
        data.draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=3))
    )
    turns = data.draw(st.lists(st.integers(1, ROUNDS), max_size=20))
    assert in_turns(batch, faulty, turns) == round_by_round(batch, faulty)
