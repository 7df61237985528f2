"""Grows chains of programs in a sitting: keeps every step, and lets the programs that run join the round robin."""

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path

import anyio
from anyio import CapacityLimiter, to_thread

from tournament.errors import RecordRefused, UsageError
from tournament.evolve.evaluate import Evaluation, Evaluator, Profile
from tournament.evolve.journal import RecordJournal
from tournament.evolve.makers import Kit, by_seat, open_oracles
from tournament.evolve.optimum import optimum_of
from tournament.evolve.pibr import Best, Chain, Plan, Step
from tournament.library import describe_game, find_bots, games, packaged_bots
from tournament.oracles.limits import Limits, Spending
from tournament.oracles.settings import Settings
from tournament.oracles.spec import described, make_limits
from tournament.program import Program
from tournament.sandbox.image import Say
from tournament.store import GrownStep, Record

Watch = Callable[[str, Step], None]
Admit = Callable[[Program], Awaitable[None]]

SPENT = """
    select
        coalesce(sum((line -> '$.answer.taken.calls')::bigint), 0),
        coalesce(sum((line -> '$.answer.taken.tokens')::bigint), 0),
        coalesce(sum((line ->> '$.answer.taken.money')::decimal(24, 12)), 0)
    from calls
    where run in ({runs})
"""
"""What the models of some runs took so far, as their budgets counted it."""


@dataclass
class Growth:
    """Chains to be grown, each with its oracles (one for all seats, or one for each): how, and what comes of them.

    `watch` is told of every step. With `joins`, programs that run join the tournament; `terse` prompts are for small
    models. The best profile is played `evaluate` times more, in matches that no step has seen.
    """

    chains: Mapping[str, Sequence[str]]
    plan: Plan
    settings: Settings
    say: Say
    watch: Watch
    joins: bool = True
    terse: bool = False
    evaluate: int = 0
    limits: Limits = field(init=False)
    """What calls to models keep to: see `share_limits`."""
    best: Best = field(default_factory=Best)
    evaluation: Evaluation | None = None
    evaluation_optimum: float | None = None
    """What the best joint play is worth in the same matches."""
    stopped: dict[str, str] = field(default_factory=dict)
    """Why chains ended before their time, by name."""
    _joined: set[str] = field(default_factory=set)

    async def grow(self, evaluator: Evaluator, record: Record, run: int, admit: Admit) -> None:
        """Grow all chains at once."""
        keeper = _Keeper(record, run, self)
        named = itertools.chain.from_iterable(self.chains.values())
        async with open_oracles(named, evaluator, self._kit(evaluator, record, run)) as oracles:
            chains = [
                Chain(name, self.plan, by_seat(team, oracles, evaluator.setting), evaluator)
                for name, team in self.chains.items()
            ]
            async with anyio.create_task_group() as group:
                for chain in chains:
                    group.start_soon(self._grow, chain, keeper, admit)
        # Of equals the first by number, whichever was there first.
        self.best = max((chain.best for chain in chains), key=lambda best: best.welfare)
        if self.evaluate and self.best.profile:
            await self._evaluate(self.best.profile, evaluator)

    async def _evaluate(self, profile: Profile, evaluator: Evaluator) -> None:
        [found] = await evaluator.rollouts([profile], self.evaluate, self.plan.episodes)
        tapes = [evaluator.chance(outcome) for outcome in found.outcomes]
        self.evaluation = found
        self.evaluation_optimum = optimum_of(evaluator.setting, tapes) if tapes else None

    async def _grow(self, chain: Chain, keeper: "_Keeper", admit: Admit) -> None:
        number = await keeper.begin(chain.name)
        async with aclosing(chain.grow()) as steps:
            async for step in steps:
                await keeper.keep(number, step)
                self.watch(chain.name, step)
                await self._admit(step, admit)
        if chain.stopped:
            self.stopped[chain.name] = chain.stopped
            self.say(f"{chain.name} stopped: {chain.stopped}")

    async def _admit(self, step: Step, admit: Admit) -> None:
        """Let the program that a step brought join, if it runs and has not come before."""
        program = step.response.program
        if self.joins and step.evaluation and program and program.digest not in self._joined:
            self._joined.add(program.digest)
            await admit(program)

    def _kit(self, evaluator: Evaluator, record: Record, run: int) -> Kit:
        game = evaluator.setting.game
        return Kit(
            settings=self.settings,
            journal=RecordJournal(record, run),
            limits=self.limits,
            say=self.say,
            library=find_bots([packaged_bots()]).programs,
            about=describe_game(game.name) if game.name in games() else "",
            episodes=self.plan.episodes,
            terse=self.terse,
            read_calls=lambda path: _read_calls(path, record),
        )

    @property
    def cut_off(self) -> bool:
        """Whether a chain ended before its time for another reason than its budget."""
        return any(not why.startswith("budget") for why in self.stopped.values())

    @property
    def failed(self) -> bool:
        """Whether a chain was cut off, or no program runs."""
        return self.cut_off or self.best.profile is None

    @property
    def config(self) -> dict[str, object]:
        """The plan, and whatever else the steps of a chain depend on beside its oracles."""
        settings = self.settings
        asked = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
        return asdict(self.plan) | {"terse": self.terse} | asked


def share_limits(growths: Sequence[Growth], record: Record, runs: Sequence[int]) -> None:
    """Let chains of several runs grow under one set of limits, which counts what they took in earlier sittings."""
    [(calls, tokens, money)] = record.sql(SPENT.format(runs=", ".join(map(str, runs))))[1]
    spent = Spending(int(calls), int(tokens), Decimal(money))
    limits = make_limits(growths[0].settings, spent)
    for growth in growths:
        growth.limits = limits


class _Keeper:
    """Writes chains and their steps to the record, one after the other, away from the loop."""

    def __init__(self, record: Record, run: int, growth: Growth) -> None:
        self._record = record
        self._run = run
        self._oracles = {
            name: [described(text, growth.settings) for text in team]
            for name, team in growth.chains.items()
        }
        self._config = growth.config
        self._one = CapacityLimiter(1)

    async def begin(self, name: str) -> int:
        """The number of the chain of that name."""
        begin = self._record.begin_chain
        return await to_thread.run_sync(
            begin, self._run, name, self._oracles[name], self._config, limiter=self._one
        )

    async def keep(self, chain: int, step: Step) -> None:
        """Keep a step of a chain."""
        await to_thread.run_sync(self._record.keep_step, chain, kept(step), limiter=self._one)


def check_recording(path: Path) -> None:
    """Raise `UsageError` unless the file is a record with calls to replay."""
    with _recording(path) as record:
        if not record.call_keys():
            raise UsageError(f"{path} has no calls to replay: no model was asked in it")


def _read_calls(path: Path, record: Record) -> list[str]:
    """The lines of the calls in a record, which may be the one that is open."""
    if path.resolve() == record.path:
        return record.call_lines()
    with _recording(path) as other:
        return other.call_lines()


def _recording(path: Path) -> Record:
    """A record to replay from. Raises `UsageError` for another file, and `RecordError`."""
    try:
        return Record.read(path)
    except RecordRefused as error:
        raise error.with_option("--oracle replay:FILE") from None


def kept(step: Step) -> GrownStep:
    """A step as it goes on record."""
    evaluation = step.evaluation
    faults = step.after.faults if step.after else ()
    return GrownStep(
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
