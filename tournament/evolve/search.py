"""An oracle that needs no model: it plays a list of candidate programs and answers with the best of them.

The candidates are the library, constants, walkers on grids and automata. All automata with two states are tried if
they are few; larger ones are found by random changes to the best so far. Programs are compared by their value, then by
their length. If no program of the seat raises the welfare, profiles with the same program in all seats are tried. If
one of them raises it, the oracle answers with that whole profile, and the seat's next step starts from it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tournament.evolve import automata
from tournament.evolve.evaluate import Evaluation, Evaluator, Profile, lineup, with_program
from tournament.evolve.grid import walkers
from tournament.evolve.response import Response, Task
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


@dataclass(frozen=True)
class Search:
    """The search oracle. `library` holds programs it may answer with; a rollout has `episodes` matches."""

    library: Sequence[Program]
    evaluator: Evaluator
    episodes: int

    async def respond(self, task: Task) -> Response:
        """Return the best program found, or the present one if none is better."""
        profile, seat = task.profile, task.seat
        listed = list(self._listed(task))
        programs = [*listed, *automata.small_automata(task.setting, seat)]
        answers = [with_program(profile, seat, program) for program in programs]
        best = await self._best([profile, *answers], task)
        if automata.has_memory(task.setting):
            best = await self._climb(best, task)
        if lineup(best.profile) == lineup(profile) and task.objective == "welfare":
            uniform = [(program,) * len(profile) for program in listed]
            best = await self._best([profile, *uniform], task)
        program = best.profile[seat]
        critique = f"worth {task.value(best):g}"
        if lineup(best.profile) == lineup(with_program(profile, seat, program)):
            return Response(program, critique=critique)
        return Response(program, RESTART, f"{critique}, in all seats", profile=best.profile)

    def _listed(self, task: Task) -> Iterator[Program]:
        """Yield the candidates except the automata: fitting library programs, constants and walkers."""
        yield from (program for program in self.library if program.fits(task.setting))
        yield from constants(task.setting, task.seat)
        yield from walkers(task.setting, task.seat)

    async def _best(self, profiles: Sequence[Profile], task: Task) -> Evaluation:
        """Return the evaluation of the profile with the highest value; among equals the first profile wins."""
        found = await self._ranked(profiles, 1, task)
        if task.value(found[0]) == task.value(found[-1]):
            found = []  # All profiles have the same value, so only the first one plays the heats.
        for count, episodes in HEATS:
            left = [each.profile for each in found[:count]]
            last = (count, episodes) == HEATS[-1]
            matches = max(episodes, self.episodes) if last else episodes
            found = await self._ranked([profiles[0], *left], matches, task)
        return found[0]

    async def _ranked(
        self, profiles: Sequence[Profile], episodes: int, task: Task
    ) -> list[Evaluation]:
        """Return the evaluations of the profiles, highest value first.

        Among equals the first profile comes first, then those whose program in the seat has the shortest source.
        """
        unique: dict[tuple[str, ...], Profile] = {}
        for profile in profiles:
            unique.setdefault(lineup(profile), profile)
        found = await self.evaluator.rollouts(list(unique.values()), episodes)

        def rank(each: Evaluation) -> tuple[float, bool, int]:
            length = len(each.profile[task.seat].source)
            return (-round(task.value(each), 9), each is not found[0], length)

        return sorted(found, key=rank)

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
            if task.value(found) > task.value(best) + GAIN:
                best = found
        return best


def constants(setting: Setting, seat: int) -> Iterator[Program]:
    """Yield one program for each move of the seat, which always makes that move."""
    for move in setting.game.moves[seat]:
        yield Program(f"always_{move}", f"def act(view):\n    return {move!r}\n")
