"""Automata as programs, for repeated games with two seats."""

import itertools
from collections.abc import Iterator

from tournament.game import MatrixGame, Move, Setting
from tournament.program import Program
from tournament.seeds import Tape

MOST_LISTED = 700
MOST_STATES = 4

Automaton = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]
"""The move of each state, and from each state the next one by the opponent's move; states and moves are indices."""


def has_memory(setting: Setting) -> bool:
    """Whether automata are of use: two seats that meet more than once."""
    game = setting.game
    return isinstance(game, MatrixGame) and game.seats == 2 and not setting.repetition.one_shot


def simplest(setting: Setting, seat: int) -> Automaton:
    """The automaton that always makes the first move."""
    return (0,), ((0,) * _answers(setting, seat),)


def small_automata(setting: Setting, seat: int) -> Iterator[Program]:
    """All automata with two states, as long as they are few."""
    if not has_memory(setting):
        return
    moves, answers = len(setting.game.moves[seat]), _answers(setting, seat)
    if moves**2 * 4**answers > MOST_LISTED:
        return
    rows = list(itertools.product((0, 1), repeat=answers))
    for plays in itertools.product(range(moves), repeat=2):
        for first, second in itertools.product(rows, repeat=2):
            yield as_program((plays, (first, second)), setting, seat)


def changed(automaton: Automaton, setting: Setting, seat: int, tape: Tape) -> Automaton:
    """The automaton with a state added, or with one or two of its entries drawn anew."""
    plays, after = list(automaton[0]), [list(row) for row in automaton[1]]
    moves, answers = len(setting.game.moves[seat]), _answers(setting, seat)
    if len(plays) < MOST_STATES and tape.random() < 0.5:
        plays.append(tape.randrange(moves))
        after.append([tape.randrange(len(plays)) for _ in range(answers)])
    for _ in range(1 + tape.randrange(2)):
        state = tape.randrange(len(plays))
        if tape.random() < 0.4:
            plays[state] = tape.randrange(moves)
        else:
            after[state][tape.randrange(answers)] = tape.randrange(len(plays))
    return tuple(plays), tuple(map(tuple, after))


def as_program(automaton: Automaton, setting: Setting, seat: int) -> Program:
    """A program that plays an automaton."""
    plays, after = automaton
    own, theirs = setting.game.moves[seat], setting.game.moves[1 - seat]
    steps: dict[tuple[int, Move], int] = {
        (state, theirs[answer]): following
        for state, row in enumerate(after)
        for answer, following in enumerate(row)
    }
    source = (
        f'"""An automaton with {len(plays)} states, found by search."""\n\n'
        f"MOVES = {tuple(own[move] for move in plays)!r}\n"
        f"NEXT = {steps!r}\n\n\n"
        "class Bot:\n"
        "    state = 0\n\n"
        "    def act(self, view):\n"
        "        if view.theirs:\n"
        "            self.state = NEXT[self.state, view.theirs[-1]]\n"
        "        return MOVES[self.state]\n"
    )
    return Program(f"automaton_{len(plays)}", source)


def _answers(setting: Setting, seat: int) -> int:
    return len(setting.game.moves[1 - seat])
