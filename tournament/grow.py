"""Grows chains of programs in a sitting: keeps every step, and lets the programs that run join the round robin."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import anyio
from anyio import CapacityLimiter, to_thread

from tournament.evolve.evaluate import Evaluator
from tournament.evolve.journal import RecordJournal
from tournament.evolve.makers import Maker, oracle_makers
from tournament.evolve.pibr import Best, Chain, Plan, Step
from tournament.library import describe_game, find_bots, games, packaged_bots
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_desk
from tournament.program import Program
from tournament.sandbox.image import Say
from tournament.store import GrownStep, Record

Watch = Callable[[str, Step], None]
Admit = Callable[[Program], Awaitable[None]]


@dataclass
class Growth:
    """Chains to be grown: how, by which oracles (one for all seats, or one for each), and the best that came of them.

    `watch` is told of every step. With `joins`, programs that run join the tournament; `terse` prompts are for small
    models.
    """

    names: Sequence[str]
    plan: Plan
    oracles: Sequence[str]
    settings: Settings
    say: Say
    watch: Watch
    joins: bool = True
    terse: bool = False
    best: Best = field(default_factory=Best)

    async def grow(self, evaluator: Evaluator, record: Record, run: int, admit: Admit) -> None:
        """Grow all chains at once."""
        game = evaluator.setting.game
        desk = make_desk(self.settings, RecordJournal(record), self.say)
        library = find_bots([packaged_bots()]).programs
        about = describe_game(game.name) if game.name in games() else ""
        one = CapacityLimiter(1)
        async with oracle_makers(
            self.oracles, desk, library, about, _read_calls, self.plan.episodes, self.terse
        ) as makers:
            makers = makers * (game.seats if len(makers) == 1 else 1)
            async with anyio.create_task_group() as group:
                for name in self.names:
                    group.start_soon(
                        self._chain, name, makers, evaluator, record, run, admit, one
                    )

    async def _chain(
        self,
        name: str,
        makers: Sequence[Maker],
        evaluator: Evaluator,
        record: Record,
        run: int,
        admit: Admit,
        one: CapacityLimiter,
    ) -> None:
        chain = Chain(name, self.plan, tuple(make(evaluator) for make in makers), evaluator)
        number = await to_thread.run_sync(
            record.begin_chain, run, name, list(self.oracles), asdict(self.plan), limiter=one
        )
        async for step in chain.grow():
            await to_thread.run_sync(record.keep_step, number, kept(step), limiter=one)
            self.best.offer(step.evaluation)
            self.watch(name, step)
            if self.joins and step.evaluation and step.response.program:
                await admit(step.response.program)


def _read_calls(path: Path) -> list[str]:
    with Record.read(path) as record:
        return record.call_lines()


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
