"""Checks fast play against strict play, one player at a time.

One call into a fresh instance replays all rounds of a player, given the recorded moves of the others. If every seat of
a match makes the same moves again, the match *is* strict play, by induction on its rounds. A program that moves
differently alone is leaky: it carries something from one match to another. Then all its matches are checked, and
those that differ are played again with every seat alone.
"""

from dataclasses import replace

from tournament.engine.batch import Batch, Played
from tournament.engine.episodes import Episodes
from tournament.engine.group import Answer, Group
from tournament.engine.play import play, powers_of
from tournament.game import StateGame, index
from tournament.sandbox.instance import Ended, Image


def audited(image: Image, batch: Batch, played: Played, game: StateGame | None = None) -> Played:
    """Return what was played, after checking the players that the batch names and all players of leaky programs.

    Matches in which a player moves differently alone are replaced by strict play.
    """
    if batch.alone:
        return replace(played, checked=set(range(len(played.moves))), leaky=set())
    differing = _differing(image, batch, played, game)
    for match in sorted({player // batch.seats for player in differing}):
        _replace(batch, played, match, play(image, batch.only([match]), game))
    return played


def _differing(image: Image, batch: Batch, played: Played, game: StateGame | None) -> set[int]:
    """Return the players that moved differently alone; add to `played.checked` and `played.leaky`."""
    differing = set()
    pending = [*batch.checks, *(_most_telling(batch, played, player) for player in batch.checks)]
    pending += (player for number in played.leaky for player in batch.players[number])
    while pending:
        player = pending.pop()
        if player in played.checked or player in differing:
            continue
        if same_alone(image, batch, played, player, game):
            played.checked.add(player)
            continue
        differing.add(player)
        program = batch.program_of(player)
        if program not in played.leaky:
            played.leaky.add(program)
            pending += batch.players[program]
    return differing


def _most_telling(batch: Batch, played: Played, player: int) -> int:
    """Return the player whose check shows the most about the program of this player.

    It is the player itself, unless a fault of another seat cut its match short. In that case it is the player in which
    the program made the most moves, and the last one of several.
    """
    at_fault = played.faults.keys() & set(_seats_from(batch, player))
    if not at_fault or player in at_fault:
        return player
    players = batch.players[batch.program_of(player)]
    return max(players, key=lambda own: (len(played.moves[own]), own))


def _seats_from(batch: Batch, player: int) -> list[int]:
    """Return the players of the player's match, from itself on in the order of seats."""
    match, seat = divmod(player, batch.seats)
    return [match * batch.seats + (seat + turn) % batch.seats for turn in range(batch.seats)]


def same_alone(
    image: Image, batch: Batch, played: Played, player: int, game: StateGame | None = None
) -> bool:
    """Whether a player makes the same moves, and ends with the same fault if any, when it is alone in its instance."""
    fault = played.faults.get(player)
    seats = _seats_from(batch, player)
    lines = ["", *map("".join, zip(*(played.moves[each] for each in seats), strict=True))]
    if game:
        lines = _with_observations(game, batch, played, player, lines)
    if played.faults.keys().isdisjoint(seats):
        lines.pop()
    recorded = (played.intended or played.moves)[player]
    moves, kind = _alone(image, batch, player, lines)
    if fault is None:
        return moves[: len(recorded)] == recorded and (kind is None or len(moves) > len(recorded))
    return moves == recorded and kind == fault.kind


def _with_observations(
    game: StateGame, batch: Batch, played: Played, player: int, lines: list[str]
) -> list[str]:
    """Return the lines, each with what the player observed of the game's state before it moved in that round."""
    episodes = Episodes(game, batch)
    match = player // batch.seats
    start = match * batch.seats
    for joint in zip(*played.moves[start : start + batch.seats], strict=True):
        episodes.step(match, [*map(index, joint)])
    return [line + episodes.seen([player], number) for number, line in enumerate(lines)]


def _alone(image: Image, batch: Batch, player: int, lines: list[str]) -> tuple[str, str | None]:
    """Return the codes of the moves that a player makes alone, up to its fault, and the kind of the fault or None.

    All lines are tried in one call first. If that ends the instance, a fresh one plays them one by one, as strict play
    does, so that every move has the fuel of a whole call.
    """
    try:
        group = Group(batch, batch.program_of(player), [player])
        group.load(image, powers_of(image, batch))
        return _until_fault(group.play(lines))
    except Ended:
        return _one_by_one(image, batch, player, lines)


def _one_by_one(
    image: Image, batch: Batch, player: int, lines: list[str]
) -> tuple[str, str | None]:
    """Return the same as `_alone`, from a call for each line."""
    answers: list[Answer] = []
    try:
        group = Group(batch, batch.program_of(player), [player], alone=True)
        group.load(image, powers_of(image, batch))
        for line in lines:
            answers += group.play([line])
            if answers[-1][1]:
                break
    except Ended as ended:
        return "".join(codes for codes, _ in answers), ended.kind
    return _until_fault(answers)


def _until_fault(answers: list[Answer]) -> tuple[str, str | None]:
    """Return the codes of the moves up to the first fault, and the kind of the fault or None."""
    moves = ""
    for codes, faults in answers:
        if faults:
            return moves, faults[0][0]
        moves += codes
    return moves, None


def _replace(batch: Batch, played: Played, match: int, strict: Played) -> None:
    """Replace the results of a match by those of strict play, in which it is the only match."""
    for seat in range(batch.seats):
        player = match * batch.seats + seat
        played.checked.add(player)
        played.moves[player] = strict.moves[seat]
        played.fuel[player] = strict.fuel[seat]
        if played.intended is not None and strict.intended is not None:
            played.intended[player] = strict.intended[seat]
        played.reads.pop(player, None)
        played.notes.pop(player, None)
        played.faults.pop(player, None)
        if seat in strict.notes:
            played.notes[player] = strict.notes[seat]
        if seat in strict.faults:
            played.faults[player] = strict.faults[seat]
