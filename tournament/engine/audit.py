"""Checks fast play against strict play, one seat at a time.

One call into a fresh instance replays all rounds of a seat, given the recorded moves of the others. If every seat of a
match makes the same moves again, the match *is* strict play, by induction on its rounds. A program that moves
differently alone is leaky: it carries something from one match to another. Then all its matches are checked, and
those that differ are played again with every seat alone.
"""

from collections.abc import Sequence
from dataclasses import replace

from tournament.engine.batch import Batch, Played
from tournament.engine.cohort import Answer, Cohort
from tournament.engine.episodes import Episodes
from tournament.engine.play import play, powers_of
from tournament.engine.rows import Line
from tournament.game import StateGame
from tournament.sandbox.instance import Ended, Image


def play_audited(image: Image, batch: Batch, game: StateGame | None = None) -> Played:
    """Play the batch, and check the slots that it names and all slots of leaky programs.

    Matches in which a slot moves differently alone are replaced by strict play.
    """
    played = play(image, batch, game)
    if batch.alone:
        played.leaky.clear()
        return replace(played, checked=set(range(len(played.moves))))
    differing = _differing(image, batch, played, game)
    _mend(image, batch, game, played, sorted({slot // batch.seats for slot in differing}))
    return played


def _differing(image: Image, batch: Batch, played: Played, game: StateGame | None) -> set[int]:
    """Return the slots that moved differently alone; add to `played.checked` and `played.leaky`."""
    differing = set()
    pending = [*batch.checks, *(_telling(batch, played, slot) for slot in batch.checks)]
    pending += (slot for number in played.leaky for slot in batch.slots[number])
    while pending:
        slot = pending.pop()
        if slot in played.checked or slot in differing:
            continue
        if same_alone(image, batch, played, slot, game):
            played.checked.add(slot)
            continue
        differing.add(slot)
        program = batch.program_of(slot)
        if program not in played.leaky:
            played.leaky.add(program)
            pending += batch.slots[program]
    return differing


def _telling(batch: Batch, played: Played, slot: int) -> int:
    """Return the slot whose check tells the most about the program of this slot.

    It is the slot itself, unless a fault of another seat cut its match short. In that case it is the slot in which the
    program made the most moves, and the last one of several.
    """
    start = slot - slot % batch.seats
    at_fault = played.faults.keys() & set(range(start, start + batch.seats))
    if not at_fault or slot in at_fault:
        return slot
    return max(batch.slots[batch.program_of(slot)], key=lambda own: (len(played.moves[own]), own))


def same_alone(
    image: Image, batch: Batch, played: Played, slot: int, game: StateGame | None = None
) -> bool:
    """Whether a slot makes the same moves, and ends with the same fault if any, when it is alone in its instance."""
    fault = played.faults.get(slot)
    start = slot - slot % batch.seats
    lines = ["", *map("".join, zip(*_as_seen(batch, played, slot), strict=True))]
    if game:
        lines = _with_observations(game, batch, played, slot, lines)
    other_fault = any(start + seat in played.faults for seat in range(batch.seats))
    if not other_fault:
        lines.pop()
    recorded = (played.intended or played.moves)[slot]
    moves, ending = _alone(image, batch, slot, lines)
    if fault is None:
        return moves[: len(recorded)] == recorded and (ending is None or len(moves) > len(recorded))
    return moves == recorded and ending == fault.kind


def _with_observations(
    game: StateGame, batch: Batch, played: Played, slot: int, lines: list[str]
) -> list[str]:
    """Return the lines, each with what the slot observed of the game's state before it moved in that round."""
    episodes = Episodes(game, batch)
    match, seat = divmod(slot, batch.seats)
    start = slot - seat
    joints = zip(*played.moves[start : start + batch.seats], strict=True)
    seen = [lines[0] + episodes.seen([slot], [0])]
    for number, (line, joint) in enumerate(zip(lines[1:], joints, strict=True), 1):
        episodes.step(match, joint)
        seen.append(line + episodes.seen([slot], [number]))
    return seen


def _as_seen(batch: Batch, played: Played, slot: int) -> list[str]:
    """Return the moves of all seats of the slot's match as the slot is shown them: its own first, then the next."""
    start, seat = slot - slot % batch.seats, slot % batch.seats
    return [played.moves[start + (seat + turn) % batch.seats] for turn in range(batch.seats)]


def _alone(image: Image, batch: Batch, slot: int, lines: list[str]) -> tuple[str, str | None]:
    """Return the codes of the moves that a slot makes alone, up to its fault, and the kind of the fault or None.

    All lines are tried in one call first. If that ends the instance, a fresh one plays them one by one, as strict play
    does, so that every move has the fuel of a whole call.
    """
    program = batch.program_of(slot)
    try:
        return _until_fault(
            Cohort(image, batch, program, [slot], powers_of(image, batch)).play(_whole(lines))
        )
    except Ended as ended:
        if len(lines) == 1:
            return "", ended.kind
    moves = ""
    try:
        cohort = Cohort(image, batch, program, [slot], powers_of(image, batch))
        for line in lines:
            move, ending = _until_fault(cohort.play(_whole([line])))
            moves += move
            if ending:
                return moves, ending
    except Ended as ended:
        return moves, ended.kind
    return moves, None


def _whole(lines: Sequence[str]) -> list[Line]:
    return [Line(0, 1, text) for text in lines]


def _until_fault(answers: list[Answer]) -> tuple[str, str | None]:
    """Return the codes of the moves up to the first fault, and the kind of the fault or None."""
    moves = ""
    for codes, faults in answers:
        if faults:
            return moves, faults[0][0]
        moves += codes
    return moves, None


def _mend(
    image: Image, batch: Batch, game: StateGame | None, played: Played, matches: list[int]
) -> None:
    """Play these matches again strictly, and replace their results."""
    if not matches:
        return
    strict = play(image, batch.only(matches), game)
    seats = batch.seats
    for position, match in enumerate(matches):
        for seat in range(seats):
            old, new = match * seats + seat, position * seats + seat
            _put(played, old, strict, new)
            played.checked.add(old)


def _put(played: Played, old: int, strict: Played, new: int) -> None:
    """Replace the results of the slot `old` by those of the slot `new` in `strict`."""
    played.moves[old] = strict.moves[new]
    played.fuel[old] = strict.fuel[new]
    if played.intended is not None and strict.intended is not None:
        played.intended[old] = strict.intended[new]
    played.notes.pop(old, None)
    if new in strict.notes:
        played.notes[old] = strict.notes[new]
    played.looked.pop(old, None)
    played.faults.pop(old, None)
    if new in strict.faults:
        played.faults[old] = strict.faults[new]
