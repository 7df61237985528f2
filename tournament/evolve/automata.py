"""Finite automata written as programs, for repeated matrix games with two seats."""

import itertools
from collections.abc import Iterator

from tournament.game import MatrixGame, Move, Setting
from tournament.program import Program
from tournament.seeds import Tape

MOST_LISTED = 700
"""`small_automata` lists the automata with two states only if there are at most this many."""
MOST_STATES = 4
"""`changed` adds no state to an automaton that has this many."""

Automaton = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]
"""The move of each state, then for each state the next state by the opponent's move. States and moves are indices."""


def has_memory(setting: Setting) -> bool:
    """Whether automata are useful: the game is a matrix game with two seats and may last more than one round."""
    game = setting.game
    return isinstance(game, MatrixGame) and game.seats == 2 and not setting.repetition.one_shot


def simplest(setting: Setting, seat: int) -> Automaton:
    """Return the automaton with one state, which always makes the seat's first move."""
    return (0,), ((0,) * _answers(setting, seat),)


def small_automata(setting: Setting, seat: int) -> Iterator[Program]:
    """Yield all automata with two states; none if the game has no use for them or there are more than `MOST_LISTED`."""
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
    """Return a random variant of the automaton: it may gain a state, and one or two of its entries are redrawn."""
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
    """Return a program that plays the automaton in the given seat."""
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
    """Return how many different moves the opponent of the seat can make."""
    return len(setting.game.moves[1 - seat])
