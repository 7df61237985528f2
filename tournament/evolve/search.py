"""An oracle that needs no model: it plays a list of candidate programs and answers with the best of them.

The candidates are the library, constants, walkers on grids and automata. All automata with two states are tried if
they are few; larger ones are found by random changes to the best so far. Programs are compared by their value, then by
their length. If no program of the seat raises the welfare, profiles with the same program in all seats are tried. If
one of them raises it, the oracle answers with that whole profile, and the seat's next step starts from it.
"""

from collections.abc import Iterator, Sequence

from tournament.evolve import automata
from tournament.evolve.evaluate import Evaluation, Evaluator, Profile, lineup, with_program
from tournament.evolve.grid import walkers
from tournament.evolve.response import Response, Task, worth
from tournament.game import Setting
from tournament.program import Program
from tournament.seeds import Tape, tape_name

HEATS = ((12, 10), (4, 40))
"""Heats that narrow the candidates down, each with the number of profiles and of matches for each profile.

Before the first heat all candidates play one match. In the last heat they play at least as many as in a rollout.
"""
CHANGES = 48
"""How many variants of an automaton are tried at once."""
CLIMBS = 6
"""How many times the best automaton so far is varied."""
RESTART = "restart"
"""The outcome of a response that replaces the programs of all seats."""
GAIN = 1e-9
"""The smallest difference in value that counts as better."""


class Search:
    """The search oracle. `library` holds programs it may answer with; a rollout has `episodes` matches."""

    name = "search"

    def __init__(self, library: Sequence[Program], evaluator: Evaluator, episodes: int) -> None:
        self._library = library
        self._evaluator = evaluator
        self._episodes = episodes

    async def respond(self, task: Task) -> Response:
        """Return the best program found, or the present one if none is better."""
        best = await self._best([task.profile, *self._answers(task)], task)
        if automata.has_memory(task.setting):
            best = await self._climb(best, task)
        if lineup(best.profile) == lineup(task.profile) and task.objective == "welfare":
            best = await self._best([task.profile, *self._twins(task)], task)
        program = best.profile[task.seat]
        said = f"worth {self._worth(best, task):g}"
        if lineup(best.profile) == lineup(with_program(task.profile, task.seat, program)):
            return Response(program, critique=said)
        return Response(program, RESTART, f"{said}, in all seats", profile=best.profile)

    def _answers(self, task: Task) -> Iterator[Profile]:
        """Yield the task's profile with each candidate program in the seat."""
        own = automata.small_automata(task.setting, task.seat)
        for program in (*self._listed(task), *own):
            yield with_program(task.profile, task.seat, program)

    def _twins(self, task: Task) -> Iterator[Profile]:
        """Yield, for each candidate except the automata, the profile with that program in all seats."""
        for program in self._listed(task):
            yield (program,) * len(task.profile)

    def _listed(self, task: Task) -> Iterator[Program]:
        """Yield the candidates except the automata: fitting library programs, constants and walkers."""
        setting = task.setting
        yield from (program for program in self._library if program.fits(setting))
        yield from constants(setting, task.seat)
        yield from walkers(setting, task.seat)

    async def _best(self, profiles: Sequence[Profile], task: Task) -> Evaluation:
        """Return the evaluation of the profile with the highest value; among equals the first profile wins."""
        found = await self._ranked(profiles, 1, task)
        if self._worth(found[0], task) == self._worth(found[-1], task):
            found = []  # All profiles have the same value, so only the first one plays the heats.
        for count, episodes in HEATS:
            left = [each.profile for each in found[:count]]
            last = (count, episodes) == HEATS[-1]
            matches = max(episodes, self._episodes) if last else episodes
            found = await self._ranked([profiles[0], *left], matches, task)
        return found[0]

    async def _ranked(
        self, profiles: Sequence[Profile], episodes: int, task: Task
    ) -> list[Evaluation]:
        """Return the evaluations of the profiles, highest value first.

        Among equals the first profile comes first, then those whose program in the seat has the shortest source.
        """
        seat = task.seat
        first: dict[tuple[str, ...], Profile] = {}
        for profile in profiles:
            first.setdefault(lineup(profile), profile)
        unique = list(first.values())
        evaluations = await self._evaluator.rollouts(unique, episodes)
        values = [round(self._worth(each, task), 9) for each in evaluations]

        def rank(number: int) -> tuple[float, bool, int]:
            return (-values[number], number > 0, len(unique[number][seat].source))

        return [evaluations[number] for number in sorted(range(len(unique)), key=rank)]

    async def _climb(self, best: Evaluation, task: Task) -> Evaluation:
        """Vary an automaton `CLIMBS` times, each time keeping the best variant; return the best evaluation seen."""
        setting, seat = task.setting, task.seat
        tape = Tape(tape_name("search", task.name))
        automaton = automata.simplest(setting, seat)
        for _ in range(CLIMBS):
            near = [automata.changed(automaton, setting, seat, tape) for _ in range(CHANGES)]
            known = {automata.as_program(each, setting, seat): each for each in (automaton, *near)}
            profiles = [with_program(task.profile, seat, program) for program in known]
            found = await self._best(profiles, task)
            automaton = known[found.profile[seat]]
            if self._worth(found, task) > self._worth(best, task) + GAIN:
                best = found
        return best

    @staticmethod
    def _worth(evaluation: Evaluation, task: Task) -> float:
        return worth(evaluation, task.seat, task.objective)


def constants(setting: Setting, seat: int) -> Iterator[Program]:
    """Yield one program for each move of the seat, which always makes that move."""
    for move in setting.game.moves[seat]:
        yield Program(f"always_{move}", f"def act(view):\n    return {move!r}\n")
