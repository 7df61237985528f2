"""Programmatic iterated best response (Lin et al., arXiv 2512.21024).

For K rounds the seats' programs are made best responses to the others' source, which stays fixed meanwhile; each is
refined in T steps, driven by unit tests and by the utility of rollouts. The profile returned is the one with the
highest welfare that was ever seen. A step whose program does not run is a gap in the record: no value, no made-up move.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from tournament.errors import NotFound
from tournament.evolve.evaluate import Evaluation, Evaluator, Feedback, Profile, with_program
from tournament.evolve.optimum import best_welfare
from tournament.evolve.response import OBJECTIVES, START, Oracle, Response, Task
from tournament.program import Program

ORDERS = ("turn", "simultaneous")
TOLERANCE = 1e-9
DIGITS = 10
"""Of a program's digest, in its name."""


@dataclass(frozen=True)
class Plan:
    """How a chain is grown: K rounds over the seats, T steps each, so many episodes to a rollout.

    Raises `NotFound` for an objective or an order that is none.
    """

    rounds: int = 5
    steps: int = 3
    episodes: int = 10
    objective: str = "welfare"
    order: str = "turn"

    def __post_init__(self) -> None:
        for what, word, known in (
            ("objective", self.objective, OBJECTIVES),
            ("order", self.order, ORDERS),
        ):
            if word not in known:
                raise NotFound(what, word, list(known))


@dataclass(frozen=True)
class Step:
    """One step of a chain: who was made better, how, and what the profile is worth since.

    `before` is what the oracle was told, and `after` what is known of the program that it wrote. `profile` is what
    stands after the step, `best` whether no profile before was worth as much.
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
        """Rollouts of the profile; None for a gap: a step that brought no program, or one that breaks rules."""
        return self.after.evaluation if self.after and not self.after.problem else None

    @property
    def outcome(self) -> str:
        """What became of it: the oracle's outcome, or the kind of the first fault of its program."""
        return (self.after.problem if self.after else "") or self.response.outcome

    @property
    def note(self) -> str:
        """A line about what went wrong."""
        faults = self.after.faults if self.after else ()
        return faults[0].message if faults else self.response.note


@dataclass
class Best:
    """The best profile so far, and its welfare."""

    profile: Profile | None = None
    welfare: float = float("-inf")

    def offer(self, evaluation: Evaluation | None) -> bool:
        """Take the evaluation if its welfare is the highest so far."""
        welfare = evaluation.welfare if evaluation else None
        if evaluation is None or welfare is None or welfare <= self.welfare:
            return False
        self.profile, self.welfare = evaluation.profile, welfare
        return True


class Chain:
    """One run of PIBR. What it does depends on its name, its plan, the setting and the oracles' answers alone.

    `stopped` says why it ended before its time, where it did.
    """

    def __init__(
        self,
        name: str,
        plan: Plan,
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
        self._optimum = best_welfare(self.setting) if plan.objective == "welfare" else None

    async def grow(self) -> AsyncGenerator[Step, None]:
        """The steps, one after the other, until the rounds are played or an oracle has no more to give."""
        together = self.plan.order == "simultaneous"
        for number in range(self.plan.rounds):
            before = self.profile
            seen, last = [before], None
            for seat in range(self.setting.game.seats):
                fixed = before if together else self.profile
                async for step in self._respond(number, seat, fixed):
                    yield step
                    seen, last = [*seen, step.profile], step
                    if step.evaluation:
                        self._take(step, alone=together)
                if self.stopped:
                    return
            if together and last and self.profile not in seen:
                yield await self._joined(last)

    def _take(self, step: Step, *, alone: bool) -> None:
        """Let what the step brought stand: its seat's program alone, or the whole profile."""
        program = step.profile[step.seat]
        self.profile = with_program(self.profile, step.seat, program) if alone else step.profile

    async def _respond(self, number: int, seat: int, fixed: Profile) -> AsyncGenerator[Step, None]:
        """Up to T steps of one seat's response; none further at the optimum, or once nothing changes."""
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
        name = f"{self.name}/{number}/{seat}/{turn}"
        before = await self._feedback(profile, seat)
        task = Task(name, self.setting, profile, seat, self.plan.objective, before)
        response = self._named(await self.oracles[seat].respond(task))
        after = None
        if response.program is not None:
            profile = response.profile or with_program(profile, seat, response.program)
            after = await self._feedback(profile, seat)
        return self._counted(Step(0, number, seat, turn, profile, response, before, after))

    async def _joined(self, last: Step) -> Step:
        """What comes of the seats' answers to what was there before, now that they meet."""
        after = await self._feedback(self.profile, last.seat)
        response = Response(None, "joined")
        turn = self.plan.steps
        return self._counted(
            Step(0, last.round, last.seat, turn, self.profile, response, last.before, after)
        )

    async def _feedback(self, profile: Profile, seat: int) -> Feedback:
        return await self.evaluator.feedback(profile, seat, self.plan.episodes)

    def _named(self, response: Response) -> Response:
        """The response, its program named as it was when it first came, or else after its text."""
        program = response.program
        if program is None:
            return response
        known = self._known.setdefault(program.digest, named(program))
        profile = response.profile and tuple(
            known if each.digest == known.digest else each for each in response.profile
        )
        return replace(response, program=known, profile=profile)

    def _counted(self, step: Step) -> Step:
        numbered = replace(step, number=self._count, best=self.best.offer(step.evaluation))
        self._count += 1
        return numbered

    def _optimal(self, step: Step) -> bool:
        welfare = step.evaluation.welfare if step.evaluation else None
        if self._optimum is None or welfare is None:
            return False
        return welfare >= self._optimum - TOLERANCE


def named(program: Program) -> Program:
    """The program under a name that depends on its text alone, whichever chain writes it first; a file's keeps its."""
    return program if program.path else replace(program, name=f"pibr_{program.digest[:DIGITS]}")
