"""Texts that explain to a language model how a game is played and what it pays."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from tournament.game import Joint, MatrixGame, Move, Payoffs, Repetition, Setting

MOST_CELLS = 100
"""Most joint moves whose payoffs are listed. Larger games need to explain their payoffs in another text."""


def rules(setting: Setting) -> str:
    """Return sentences that explain how a setting is played."""
    game = setting.game
    lines = [f"{game.name}: {game.seats} seats, numbered from 0. All move at the same time."]
    if len(set(game.moves)) == 1:
        lines.append(f"Legal moves: {_listed(game.moves[0])}.")
    else:
        lines += [f"Legal moves of seat {s}: {_listed(m)}." for s, m in enumerate(game.moves)]
    if game.parameters:
        pairs = ", ".join(f"{name} = {value!r}" for name, value in game.parameters.items())
        lines.append(f"Parameters: {pairs}.")
    if isinstance(game, MatrixGame):
        lines.append(_repetition(setting.repetition))
    else:
        lines.append(f"A match is one episode of at most {game.most_rounds} rounds.")
    return "\n".join(lines)


def _listed(moves: Sequence[object]) -> str:
    return ", ".join(map(repr, moves))


def _repetition(repetition: Repetition) -> str:
    if repetition.rounds == 1:
        text = "The game is played once."
    elif repetition.rounds is not None:
        text = f"The game is repeated for {repetition.rounds} rounds, and payoffs add up."
    else:
        text = f"After each round there is another with probability {repetition.continuation:g}; payoffs add up."
    if repetition.discount != 1:
        text += f" Payoffs of round r, from 0, count {repetition.discount:g} to the power r."
    if repetition.noise:
        text += f" With probability {repetition.noise:g} a move is replaced by another legal one."
    return text


def payoff_table(setting: Setting) -> str:
    """Return the payoffs of one round: a table for two seats, or a list for any other number of seats.

    The text is empty if the game is not a matrix game or has more than `MOST_CELLS` joint moves.
    """
    cells = _cells(setting)
    if not cells:
        return ""
    lines = (_table if setting.game.seats == 2 else _list)(cells, setting.game.moves)
    return "\n".join(lines)


def _cells(setting: Setting) -> Mapping[Joint, Payoffs]:
    """Return the payoffs by joint move; empty if the game is not a matrix game or has too many joint moves."""
    game = setting.game
    if not isinstance(game, MatrixGame) or math.prod(map(len, game.moves)) > MOST_CELLS:
        return {}
    joints = itertools.product(*(range(len(legal)) for legal in game.moves))
    return {joint: game.payoff(joint) for joint in joints}


def _table(cells: Mapping[Joint, Payoffs], moves: Sequence[Sequence[Move]]) -> Iterator[str]:
    yield "Rows are moves of seat 0, columns moves of seat 1; each cell is what seat 0 and seat 1 are paid."
    yield ""
    rows, columns = moves
    yield f"| | {' | '.join(map(repr, columns))} |"
    yield "|---" * (len(columns) + 1) + "|"
    for i, row in enumerate(rows):
        paid = (_paid(cells[i, j]) for j in range(len(columns)))
        yield f"| {row!r} | {' | '.join(paid)} |"


def _list(cells: Mapping[Joint, Payoffs], moves: Sequence[Sequence[Move]]) -> Iterator[str]:
    yield "Moves in seat order, and what the seats are paid:"
    for joint, payoffs in cells.items():
        played = _listed([moves[seat][move] for seat, move in enumerate(joint)])
        yield f"- {played}: {_paid(payoffs)}"


def _paid(payoffs: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in payoffs)


def own_payoffs(setting: Setting, seat: int) -> str:
    """Return the payoffs of one seat in a game of two seats, as one line for each pair of moves.

    The text is empty for other games and for games with more than `MOST_CELLS` pairs.
    """
    if setting.game.seats != 2:
        return ""
    mine, theirs = setting.game.moves[seat], setting.game.moves[1 - seat]
    lines = []
    for joint, payoffs in sorted(_cells(setting).items(), key=lambda cell: cell[0][seat]):
        own, other = mine[joint[seat]], theirs[joint[1 - seat]]
        lines.append(f"you {own!r}, opponent {other!r}: {payoffs[seat]:g}")
    return "\n".join(lines)
