"""Evolves chains of programs in a session: records every step, and lets programs that run join the round robin."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path

import anyio
from anyio import CapacityLimiter, to_thread

from tournament.errors import RecordRefused, UsageError
from tournament.evolve.evaluate import Evaluation, Evaluator, Profile
from tournament.evolve.factories import by_seat, open_oracles
from tournament.evolve.journal import RecordJournal
from tournament.evolve.optimum import optimum_of
from tournament.evolve.pibr import Best, Chain, EvolutionPlan, Step
from tournament.oracles.limits import Limits, Spending
from tournament.oracles.settings import Settings
from tournament.oracles.spec import Services, described, make_limits
from tournament.program import Program
from tournament.sandbox.image import Say
from tournament.store import Record, RecordedStep

Watch = Callable[[str, Step], None]
"""Is called with the name of a chain and its newest step."""
Admit = Callable[[Program], Awaitable[None]]
"""Lets a program join the tournament."""

USED = """
    select
        coalesce(sum((line -> '$.answer.taken.calls')::bigint), 0),
        coalesce(sum((line -> '$.answer.taken.tokens')::bigint), 0),
        coalesce(sum((line ->> '$.answer.taken.money')::decimal(24, 12)), 0)
    from calls
    where run in ({runs})
"""
"""Selects the calls, tokens and dollars that the given runs have used so far, as their budgets counted them."""


@dataclass
class Evolution:
    """The evolution of several chains: how it is done, and what came of it.

    `chains` names the oracles of each chain, one for all seats or one for each seat. `watch` is called with every step.
    With `joins`, programs that run join the tournament. After the last step the best profile plays `evaluate` further
    matches, which no step has used.
    """

    chains: Mapping[str, Sequence[str]]
    plan: EvolutionPlan
    settings: Settings
    say: Say
    watch: Watch
    joins: bool = True
    evaluate: int = 0
    limits: Limits = field(init=False)
    """The limits on calls to models, which `share_limits` sets."""
    best: Best = field(default_factory=Best)
    evaluation: Evaluation | None = None
    evaluation_optimum: float | None = None
    """The mean optimum (the welfare of the best joint play) of the matches in `evaluation`, where it is known."""
    stopped: dict[str, str] = field(default_factory=dict)
    """Why chains ended early, by the name of the chain."""
    _joined: set[str] = field(default_factory=set)

    async def run(self, evaluator: Evaluator, record: Record, run: int, admit: Admit) -> None:
        """Evolve all chains at the same time, then evaluate the best profile again if wanted."""
        keeper = _Keeper(record, run, self)
        named = itertools.chain.from_iterable(self.chains.values())
        services = Services(self.settings, self.limits, RecordJournal(record, run), self.say)
        read_calls = partial(_read_calls, record=record)
        async with open_oracles(named, evaluator, self.plan, services, read_calls) as oracles:
            chains = [
                Chain(name, self.plan, by_seat(team, oracles, evaluator.setting), evaluator)
                for name, team in self.chains.items()
            ]
            async with anyio.create_task_group() as group:
                for chain in chains:
                    group.start_soon(self._evolve, chain, keeper, admit)
        # Among equals the first chain in order wins, whichever chain reached that welfare first.
        self.best = max((chain.best for chain in chains), key=lambda best: best.welfare)
        if self.evaluate and self.best.profile:
            await self._evaluate(self.best.profile, evaluator)

    async def _evaluate(self, profile: Profile, evaluator: Evaluator) -> None:
        """Play `evaluate` new matches of the profile and keep the evaluation with its optimum."""
        [found] = await evaluator.rollouts([profile], self.evaluate, self.plan.episodes)
        tapes = [evaluator.chance(outcome) for outcome in found.outcomes]
        self.evaluation = found
        self.evaluation_optimum = optimum_of(evaluator.setting, tapes) if tapes else None

    async def _evolve(self, chain: Chain, keeper: "_Keeper", admit: Admit) -> None:
        """Evolve one chain: record, report and admit every step as it comes."""
        number = await keeper.begin(chain.name)
        async with aclosing(chain.run()) as steps:
            async for step in steps:
                await keeper.keep(number, step)
                self.watch(chain.name, step)
                await self._admit(step, admit)
        if chain.stopped:
            self.stopped[chain.name] = chain.stopped
            self.say(f"{chain.name} stopped: {chain.stopped}")

    async def _admit(self, step: Step, admit: Admit) -> None:
        """Let the program of a step join the tournament, if it runs and has not joined before."""
        program = step.response.program
        if self.joins and step.evaluation and program and program.digest not in self._joined:
            self._joined.add(program.digest)
            await admit(program)

    @property
    def cut_off(self) -> bool:
        """Whether a chain ended early for a reason other than its budget."""
        return any(not why.startswith("budget") for why in self.stopped.values())

    @property
    def failed(self) -> bool:
        """Whether a chain was cut off, or no step brought a profile that runs."""
        return self.cut_off or self.best.profile is None

    @property
    def config(self) -> dict[str, object]:
        """The plan and the other settings that the steps of a chain depend on, apart from its oracles."""
        settings = self.settings
        asked = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
        return asdict(self.plan) | asked


def share_limits(evolutions: Sequence[Evolution], record: Record, runs: Sequence[int]) -> None:
    """Give the evolutions of several runs one set of limits, which counts what the runs used in earlier sessions."""
    [(calls, tokens, money)] = record.sql(USED.format(runs=", ".join(map(str, runs))))[1]
    used = Spending(int(calls), int(tokens), Decimal(money))
    limits = make_limits(evolutions[0].settings, used)
    for evolution in evolutions:
        evolution.limits = limits


class _Keeper:
    """Writes chains and their steps to the record, one at a time and in a thread, so that the event loop goes on."""

    def __init__(self, record: Record, run: int, evolution: Evolution) -> None:
        self._record = record
        self._run = run
        self._oracles = {
            name: [described(text, evolution.settings) for text in team]
            for name, team in evolution.chains.items()
        }
        self._config = evolution.config
        self._one = CapacityLimiter(1)

    async def begin(self, name: str) -> int:
        """Return the number of the chain of that name in the record, where it is entered if it is new."""
        begin = self._record.begin_chain
        return await to_thread.run_sync(
            begin, self._run, name, self._oracles[name], self._config, limiter=self._one
        )

    async def keep(self, chain: int, step: Step) -> None:
        """Write a step of the chain with that number to the record."""
        await to_thread.run_sync(self._record.keep_step, chain, kept(step), limiter=self._one)


def check_recording(path: Path) -> None:
    """Raise `UsageError` unless the file is a record with calls to replay."""
    with _recording(path) as record:
        if not record.call_keys():
            raise UsageError(f"{path} has no calls to replay: no model was asked in it")


def _read_calls(path: Path, record: Record) -> list[str]:
    """Return the calls in the record at `path`, one line of text each. That may be `record`, which is open already."""
    if path.resolve() == record.path:
        return record.call_lines()
    with _recording(path) as other:
        return other.call_lines()


def _recording(path: Path) -> Record:
    """Open the record at `path` for replay. Raises `UsageError` if the file is not a record, and `RecordError`."""
    try:
        return Record.read(path)
    except RecordRefused as error:
        raise error.with_option("--oracle replay:FILE") from None


def kept(step: Step) -> RecordedStep:
    """Return the step in the form in which the record keeps it."""
    evaluation = step.evaluation
    faults = step.after.faults if step.after else ()
    return RecordedStep(
        step=step.number,
        round=step.round,
        seat=step.seat,
        turn=step.turn,
        program=step.response.program,
        profile=step.profile,
        welfare=evaluation.welfare if evaluation else None,
        payoffs=evaluation.payoffs if evaluation else None,
        samples=evaluation.samples if evaluation else None,
        outcome=step.outcome,
        critique=step.response.critique,
        problems=tuple(f"{f.kind} in round {f.round + 1}: {f.message}" for f in faults),
        calls=step.response.calls,
        best=step.best,
    )
