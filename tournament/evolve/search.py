"""An oracle that needs no model: the best response among programs that can be listed, found by playing them.

It tries the library, constants, and automata; of automata with up to two states all, of larger ones those that are
reached by changing the best so far. Programs are compared by what they are worth, then by their length.
"""

import itertools
from collections.abc import Iterator, Sequence

from tournament.evolve.evaluate import Evaluation, Evaluator, Profile
from tournament.evolve.response import Response, Task, worth
from tournament.game import MatrixGame, Move, Setting
from tournament.program import Program
from tournament.seeds import Tape, tape_name

MOST_LISTED = 700
MOST_STATES = 4
CHANGES = 48
CLIMBS = 6

Automaton = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]
"""The move of each state, and from each state the next one by the opponent's move; states and moves are indices."""


class Search:
    """The oracle. `library` are the programs that it may answer with."""

    name = "search"

    def __init__(self, library: Sequence[Program], evaluator: Evaluator, episodes: int) -> None:
        self._library = library
        self._evaluator = evaluator
        self._episodes = episodes

    async def respond(self, task: Task) -> Response:
        """The best program found; the one that is there if none is better."""
        best = await self._best([task.program, *self._listed(task)], task)
        if _has_memory(task.setting):
            best = await self._climb(best, task)
        program = best.profile[task.seat]
        return Response(program, "ok", f"worth {worth(best, task.seat, task.objective):g}")

    def _listed(self, task: Task) -> list[Program]:
        setting = task.setting
        fitting = [program for program in self._library if program.fits(setting)]
        return [*fitting, *constants(setting, task.seat), *small_automata(setting, task.seat)]

    async def _best(self, programs: Sequence[Program], task: Task) -> Evaluation:
        """The evaluation of the program that is worth most; of equals the first, then the shortest."""
        unique = list({program.digest: program for program in programs}.values())
        profiles = [_with(task.profile, task.seat, program) for program in unique]
        evaluations = await self._evaluator.rollouts(profiles, self._episodes)
        current = task.program.digest

        def rank(evaluation: Evaluation) -> tuple[float, bool, int]:
            program = evaluation.profile[task.seat]
            value = round(worth(evaluation, task.seat, task.objective), 9)
            return (value, program.digest == current, -len(program.source))

        return max(evaluations, key=rank)

    async def _climb(self, best: Evaluation, task: Task) -> Evaluation:
        """Change automata with up to four states for the better, until nothing near is better."""
        setting, seat = task.setting, task.seat
        tape = Tape(tape_name("search", task.name))
        automaton: Automaton = ((0,), ((0,) * _answers(setting, seat),))
        for _ in range(CLIMBS):
            near = [_changed(automaton, setting, seat, tape) for _ in range(CHANGES)]
            programs = {as_program(each, setting, seat).digest: each for each in near}
            found = await self._best([as_program(each, setting, seat) for each in near], task)
            automaton = programs.get(found.profile[seat].digest, automaton)
            if worth(found, seat, task.objective) > worth(best, seat, task.objective) + 1e-9:
                best = found
        return best


def _with(profile: Profile, seat: int, program: Program) -> Profile:
    return (*profile[:seat], program, *profile[seat + 1 :])


def _has_memory(setting: Setting) -> bool:
    game = setting.game
    return isinstance(game, MatrixGame) and game.seats == 2 and not setting.repetition.one_shot


def _answers(setting: Setting, seat: int) -> int:
    return len(setting.game.moves[1 - seat])


def constants(setting: Setting, seat: int) -> Iterator[Program]:
    """Programs that always make the same move."""
    for move in setting.game.moves[seat]:
        yield Program(f"always_{move}", f"def act(view):\n    return {move!r}\n")


def small_automata(setting: Setting, seat: int) -> Iterator[Program]:
    """All automata with two states, as long as they are few, in repeated games with two seats."""
    if not _has_memory(setting):
        return
    moves, answers = len(setting.game.moves[seat]), _answers(setting, seat)
    if moves**2 * 4**answers > MOST_LISTED:
        return
    rows = list(itertools.product((0, 1), repeat=answers))
    for plays in itertools.product(range(moves), repeat=2):
        for first, second in itertools.product(rows, repeat=2):
            yield as_program((plays, (first, second)), setting, seat)


def _changed(automaton: Automaton, setting: Setting, seat: int, tape: Tape) -> Automaton:
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
        "def act(view):\n"
        "    state = 0\n"
        "    for move in view.theirs:\n"
        "        state = NEXT[state, move]\n"
        "    return MOVES[state]\n"
    )
    return Program(f"automaton_{len(plays)}", source)
