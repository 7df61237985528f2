"""Grows chains of programs in a sitting: keeps every step, and lets those that are any good join the round robin."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass

import anyio
from anyio import CapacityLimiter, to_thread

from tournament.evolve.evaluate import Evaluator
from tournament.evolve.pibr import Best, Chain, Plan, Step
from tournament.evolve.response import Oracle
from tournament.program import Program
from tournament.store import GrownStep, Record

MakeOracle = Callable[[Evaluator], Oracle]
Watch = Callable[[str, Step], None]
Admit = Callable[[Program], Awaitable[None]]


@dataclass
class Growth:
    """Chains to be grown: how, by which oracles (one for all seats, or one for each), and what came of them.

    `watch` is told of every step. With `joins`, programs that run join the tournament.
    """

    names: Sequence[str]
    plan: Plan
    oracles: Sequence[MakeOracle]
    labels: Sequence[str]
    watch: Watch
    joins: bool = True
    best: Best | None = None

    async def grow(self, evaluator: Evaluator, record: Record, run: int, admit: Admit) -> None:
        """Grow all chains at once."""
        self.best = Best()
        one = CapacityLimiter(1)
        async with anyio.create_task_group() as group:
            for name in self.names:
                group.start_soon(self._chain, name, evaluator, record, run, admit, one)

    async def _chain(
        self,
        name: str,
        evaluator: Evaluator,
        record: Record,
        run: int,
        admit: Admit,
        one: CapacityLimiter,
    ) -> None:
        seats = evaluator.setting.game.seats
        makers = list(self.oracles) * (seats if len(self.oracles) == 1 else 1)
        chain = Chain(name, self.plan, tuple(make(evaluator) for make in makers), evaluator)
        number = await to_thread.run_sync(
            record.begin_chain, run, name, list(self.labels), asdict(self.plan), limiter=one
        )
        async for step in chain.grow():
            await to_thread.run_sync(record.keep_step, number, kept(step), limiter=one)
            assert self.best is not None
            self.best.offer(step.evaluation)
            self.watch(name, step)
            if self.joins and step.evaluation and step.response.program:
                await admit(step.response.program)


def kept(step: Step) -> GrownStep:
    """A step as it goes on record."""
    evaluation = step.evaluation
    return GrownStep(
        step=step.number,
        round=step.round,
        seat=step.seat,
        turn=step.turn,
        program=step.response.program,
        profile=step.profile,
        welfare=evaluation.welfare if evaluation else None,
        payoffs=evaluation.payoffs if evaluation else None,
        outcome=step.response.outcome,
        critique=step.response.critique,
        problems=tuple(f"{fault.kind}: {fault.message}" for fault in step.feedback.faults),
        calls=step.response.calls,
        best=step.best,
    )
