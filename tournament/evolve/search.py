"""An oracle that needs no model: the best response among programs that can be listed, found by playing them.

It tries the library, constants, small automata and walkers on grids; of automata with up to two states all, of larger
ones those that are reached by changing the best so far. Programs are compared by what they are worth, then by their
length. Where no program of one seat makes it better for all, profiles that have one program in all seats are tried, and
if one of them does, the search begins anew from there.
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
"""After a first match each, so many of the best go on to so many matches; the last heat is a rollout at least."""
CHANGES = 48
CLIMBS = 6
RESTART = "restart"
GAIN = 1e-9


class Search:
    """The oracle. `library` are the programs that it may answer with."""

    name = "search"

    def __init__(self, library: Sequence[Program], evaluator: Evaluator, episodes: int) -> None:
        self._library = library
        self._evaluator = evaluator
        self._episodes = episodes

    async def respond(self, task: Task) -> Response:
        """The best program found; the one that is there if none is better."""
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
        """Profiles in which the seat has another program."""
        own = automata.small_automata(task.setting, task.seat)
        for program in (*self._listed(task), *own):
            yield with_program(task.profile, task.seat, program)

    def _twins(self, task: Task) -> Iterator[Profile]:
        """Profiles with the same program in all seats."""
        for program in self._listed(task):
            yield (program,) * len(task.profile)

    def _listed(self, task: Task) -> Iterator[Program]:
        setting = task.setting
        yield from (program for program in self._library if program.fits(setting))
        yield from constants(setting, task.seat)
        yield from walkers(setting, task.seat)

    async def _best(self, profiles: Sequence[Profile], task: Task) -> Evaluation:
        """The evaluation of the profile that is worth most; of equals the first, which is the one there is."""
        found = await self._ranked(profiles, 1, task)
        if self._worth(found[0], task) == self._worth(found[-1], task):
            found = []  # nothing makes any difference, and more matches would show no more
        for count, episodes in HEATS:
            left = [each.profile for each in found[:count]]
            last = (count, episodes) == HEATS[-1]
            matches = max(episodes, self._episodes) if last else episodes
            found = await self._ranked([profiles[0], *left], matches, task)
        return found[0]

    async def _ranked(
        self, profiles: Sequence[Profile], episodes: int, task: Task
    ) -> list[Evaluation]:
        """Evaluations of the profiles, best first: by worth; of equals that of the first, then of the shortest."""
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
        """Change automata with up to four states for the better, until nothing near is better."""
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
    """Programs that always make the same move."""
    for move in setting.game.moves[seat]:
        yield Program(f"always_{move}", f"def act(view):\n    return {move!r}\n")
