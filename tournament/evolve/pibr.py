"""Programmatic iterated best response (Lin et al., arXiv 2512.21024).

In each of K rounds, every seat's program is made a best response to the source of the other programs, which stay
fixed meanwhile. It is refined in T steps, guided by unit tests and by the payoffs in rollouts. The result is the
profile with the highest welfare seen in any step. A step whose program does not run has no value in the record.
"""

import math
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from tournament.errors import NotFound
from tournament.evolve.evaluate import Evaluation, Evaluator, Feedback, Profile, with_program
from tournament.evolve.optimum import best_welfare
from tournament.evolve.response import OBJECTIVES, START, Oracle, Response, Task
from tournament.program import Program

ORDERS = ("turn", "simultaneous")
TOLERANCE = 1e-9
"""How far below the optimum a welfare may be and still count as optimal."""
DIGITS = 10
"""How many digits of its digest a program has in its name."""


@dataclass(frozen=True)
class EvolutionPlan:
    """How a chain is evolved: `rounds` over all seats, `steps` for each seat, and `episodes` matches in a rollout.

    With the order "turn", a seat answers the programs that earlier seats wrote in the same round; with "simultaneous",
    it answers those from before the round. With `short_prompts`, prompts are short enough for small models. Raises
    `NotFound` for an unknown objective or order.
    """

    rounds: int = 5
    steps: int = 3
    episodes: int = 10
    objective: str = "welfare"
    order: str = "turn"
    short_prompts: bool = False

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise NotFound("objective", self.objective, list(OBJECTIVES))
        if self.order not in ORDERS:
            raise NotFound("order", self.order, list(ORDERS))


@dataclass(frozen=True)
class Step:
    """One step of a chain, in which one seat's program was to be improved.

    `turn` counts the steps of the seat in the round. `before` is the feedback that the oracle got, and `after` the
    feedback on the program that it wrote. `profile` holds the programs after the step. `best` says whether its welfare
    is higher than that of every earlier step.
    """

    number: int
    round: int
    seat: int
    turn: int
    profile: Profile
    response: Response
    before: Feedback
    after: Feedback | None
    best: bool = False

    @property
    def evaluation(self) -> Evaluation | None:
        """The rollouts of the profile; None if the step brought no program, or one that does not run."""
        return self.after.evaluation if self.after and not self.after.problem else None

    @property
    def outcome(self) -> str:
        """The outcome of the step: the problem of its program if it has one, otherwise the oracle's outcome."""
        return (self.after.problem if self.after else "") or self.response.outcome

    @property
    def note(self) -> str:
        """A line about what went wrong, which may be empty."""
        faults = self.after.faults if self.after else ()
        return faults[0].message if faults else self.response.note


@dataclass
class Best:
    """The profile with the highest welfare so far, and that welfare."""

    profile: Profile | None = None
    welfare: float = float("-inf")

    def offer(self, evaluation: Evaluation | None) -> bool:
        """Keep the profile of the evaluation if its welfare is the highest so far; return whether it is."""
        if not evaluation or evaluation.welfare is None or evaluation.welfare <= self.welfare:
            return False
        self.profile, self.welfare = evaluation.profile, evaluation.welfare
        return True


class Chain:
    """One run of PIBR. Its steps depend only on its arguments and on the answers of the oracles.

    `stopped` says why the chain ended early; it is empty if the chain did not.
    """

    def __init__(
        self,
        name: str,
        plan: EvolutionPlan,
        oracles: tuple[Oracle, ...],
        evaluator: Evaluator,
        start: Profile | None = None,
    ) -> None:
        self.name = name
        self.plan = plan
        self.oracles = oracles
        self.evaluator = evaluator
        self.setting = evaluator.setting
        self.profile: Profile = start or (START,) * self.setting.game.seats
        self.best = Best()
        self.stopped = ""
        self._count = 0
        self._known = {program.digest: program for program in self.profile}
        optimum = best_welfare(self.setting) if plan.objective == "welfare" else None
        self._optimum = math.inf if optimum is None else optimum

    async def run(self) -> AsyncGenerator[Step, None]:
        """Yield the steps, one after the other, until all rounds are done or an oracle stops the chain."""
        together = self.plan.order == "simultaneous"
        for number in range(self.plan.rounds):
            before = self.profile
            seen, last = [before], None
            for seat in range(self.setting.game.seats):
                async for step in self._respond(number, seat, before if together else self.profile):
                    yield step
                    seen, last = [*seen, step.profile], step
                    if step.evaluation and together:
                        self.profile = with_program(self.profile, seat, step.profile[seat])
                    elif step.evaluation:
                        self.profile = step.profile
                if self.stopped:
                    return
            if together and last and self.profile not in seen:
                yield await self._join(last)

    async def _respond(self, number: int, seat: int, fixed: Profile) -> AsyncGenerator[Step, None]:
        """Yield up to T steps that improve one seat's program.

        The steps end early when the welfare is optimal, when the profile no longer changes, or when the oracle stops.
        """
        profile = fixed
        for turn in range(self.plan.steps):
            step = await self._step(number, seat, turn, profile)
            if step.response.stop:
                self.stopped = f"{step.outcome}: {step.response.note}".rstrip(": ")
                return
            yield step
            if step.response.program is None:
                continue
            if step.profile == profile or self._optimal(step):
                return
            profile = step.profile

    async def _step(self, number: int, seat: int, turn: int, profile: Profile) -> Step:
        """Ask the oracle of the seat for a better program and evaluate the profile with it."""
        name = f"{self.name}/{number}/{seat}/{turn}"
        before = await self.evaluator.feedback(profile, seat, self.plan.episodes)
        task = Task(name, self.setting, profile, seat, self.plan.objective, before)
        response = self._renamed(await self.oracles[seat].respond(task))
        after = None
        if response.program is not None:
            profile = response.profile or with_program(profile, seat, response.program)
            after = await self.evaluator.feedback(profile, seat, self.plan.episodes)
        return self._numbered(Step(0, number, seat, turn, profile, response, before, after))

    async def _join(self, last: Step) -> Step:
        """Return a step that evaluates the profile in which all seats have the programs they wrote in this round."""
        after = await self.evaluator.feedback(self.profile, last.seat, self.plan.episodes)
        turn, response = self.plan.steps, Response(None, "joined")
        joined = replace(last, turn=turn, profile=self.profile, response=response, after=after)
        return self._numbered(joined)

    def _renamed(self, response: Response) -> Response:
        """Return the response with its program renamed: as it was first named in this chain, or else by its digest."""
        program = response.program
        if program is None:
            return response
        known = self._known.setdefault(program.digest, named(program))
        profile = response.profile and tuple(
            known if each.digest == known.digest else each for each in response.profile
        )
        return replace(response, program=known, profile=profile)

    def _numbered(self, step: Step) -> Step:
        """Return the step with its number in the chain and whether it is the best so far."""
        self._count += 1
        return replace(step, number=self._count - 1, best=self.best.offer(step.evaluation))

    def _optimal(self, step: Step) -> bool:
        """Whether the welfare of the step reaches the optimum; False where the optimum is not known."""
        welfare = step.evaluation.welfare if step.evaluation else None
        return welfare is not None and welfare >= self._optimum - TOLERANCE


def named(program: Program) -> Program:
    """Return the program under a name that depends only on its source, so that all chains name it alike.

    A program that was read from a file keeps its name.
    """
    return program if program.path else replace(program, name=f"pibr_{program.digest[:DIGITS]}")
