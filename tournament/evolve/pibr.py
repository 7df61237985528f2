"""Programmatic iterated best response (Lin et al., arXiv 2512.21024).

For K rounds the seats' programs are made best responses to the others' source, which stays fixed meanwhile; each is
refined in T steps, driven by unit tests and by the utility of rollouts. The profile returned is the one with the
highest welfare that was ever seen. A step whose program does not run is a gap in the record: no value, no made-up move.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from tournament.evolve.evaluate import Evaluation, Evaluator, Profile
from tournament.evolve.response import Feedback, Oracle, Response, Task
from tournament.game import MatrixGame, Setting
from tournament.program import Program

START = Program("start", '"""Plays its first legal move."""\n\n\ndef act(view):\n    return view.legal[0]\n')
ORDERS = ("turn", "simultaneous")


@dataclass(frozen=True)
class Plan:
    """How a chain is grown: K rounds over the seats, T steps each, so many episodes to a rollout."""

    rounds: int = 5
    steps: int = 3
    episodes: int = 10
    objective: str = "welfare"
    order: str = "turn"


@dataclass(frozen=True)
class Step:
    """One step of a chain: who was made better, how, and what the profile is worth since.

    `evaluation` is None for a gap: a step that brought no program, or one that breaks rules. `profile` is what stands
    after the step, `best` whether no profile before was worth as much.
    """

    number: int
    round: int
    seat: int
    turn: int
    profile: Profile
    response: Response
    feedback: Feedback
    evaluation: Evaluation | None
    best: bool = False


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
    """One run of PIBR. What it does depends on its name, its plan, the setting and the oracles' answers alone."""

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
        self.setting: Setting = evaluator.setting
        self.profile: Profile = start or (START,) * self.setting.game.seats
        self.best = Best()
        self.count = 0

    async def grow(self) -> AsyncIterator[Step]:
        """The steps, one after the other, until the rounds are played or the optimum is reached."""
        seats = range(self.setting.game.seats)
        for number in range(self.plan.rounds):
            before = self.profile
            answered = list(before)
            for seat in seats:
                fixed = before if self.plan.order == "simultaneous" else tuple(answered)
                async for step in self._respond(number, seat, fixed):
                    yield step
                    if step.evaluation is not None:
                        answered[seat] = step.profile[seat]
            self.profile = tuple(answered)

    async def _respond(self, number: int, seat: int, fixed: Profile) -> AsyncIterator[Step]:
        """Up to T steps of one seat's response; none further once nothing changes."""
        profile = fixed
        for turn in range(self.plan.steps):
            step = await self._step(number, seat, turn, profile)
            yield step
            if step.response.program is None:
                continue
            if step.profile == profile or self._optimal(step):
                return
            profile = step.profile

    async def _step(self, number: int, seat: int, turn: int, profile: Profile) -> Step:
        feedback = await self._feedback(profile, seat)
        name = f"{self.name}/{number}/{seat}/{turn}"
        plan = self.plan
        task = Task(name, self.setting, profile, seat, plan.objective, feedback)
        response = await self.oracles[seat].respond(task)
        evaluation = None
        if response.program is not None:
            changed = response.program.digest != task.program.digest
            own = replace(response.program, name=name.replace("/", "_"))
            named = own if changed else task.program
            response = replace(response, program=named)
            profile = (*profile[:seat], named, *profile[seat + 1 :])
            evaluation = await self._evaluation(profile, seat)
        best = self.best.offer(evaluation)
        self.count += 1
        return Step(
            self.count - 1, number, seat, turn, profile, response, feedback, evaluation, best
        )

    async def _feedback(self, profile: Profile, seat: int) -> Feedback:
        faults = await self.evaluator.tests(profile, seat)
        return Feedback(tuple(faults), await self._evaluation(profile, seat, tested=True))

    async def _evaluation(
        self, profile: Profile, seat: int, *, tested: bool = False
    ) -> Evaluation | None:
        """Rollouts of the profile; None if its program breaks a rule in them, or in its unit tests."""
        if not tested and await self.evaluator.tests(profile, seat):
            return None
        [evaluation] = await self.evaluator.rollouts([profile], self.plan.episodes)
        return None if evaluation.faults and not tested else evaluation

    def _optimal(self, step: Step) -> bool:
        optimum = best_welfare(self.setting)
        welfare = step.evaluation.welfare if step.evaluation else None
        return optimum is not None and welfare is not None and welfare >= optimum - 1e-9


def best_welfare(setting: Setting) -> float | None:
    """The most that all seats together can be paid in a match, where it can be listed."""
    game, repetition = setting.game, setting.repetition
    if not isinstance(game, MatrixGame) or game.cells is None or repetition.noise:
        return None
    if repetition.rounds is None:
        return None
    rounds = sum(repetition.discount**r for r in range(repetition.rounds))
    return max(map(sum, game.cells.values())) * rounds
