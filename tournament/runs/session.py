"""One session of a run: plays the matches that are missing from the record and records each result as it arrives.

This module connects the engine with the record. After a session was stopped or killed, the next session continues
from what was recorded.
"""

import platform
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

import anyio

from tournament import __version__
from tournament.engine.run import Contest, Plan, Results, planned, play_all
from tournament.engine.schedule import round_robin
from tournament.errors import UsageError
from tournament.evolve.evaluate import Evaluator
from tournament.game import Setting
from tournament.library import Entrants
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.runs.evolution import Evolution, share_limits
from tournament.runs.resources import Resources, open_resources
from tournament.sandbox.image import Image, Say
from tournament.sandbox.pool import Pool
from tournament.seeds import tape_name
from tournament.store import Recorder

RULES = 1
"""The version of the rules of play. It is raised when a new engine plays the same inputs differently.

The version is part of a run's key, so matches that were played under other rules belong to another run.
"""
WAITING = 4
"""How many results may wait to be recorded before the workers that send more have to wait."""

LEAKY = """
    select distinct digest
    from leaks join matches using (match) join programs using (program)
    where run = {run}
"""
"""Selects the digests of the programs that are recorded as leaky in a run."""
UNSURE = f"""
    select list(digest order by seat), repetition
    from matches join seats using (match) join programs using (program)
    where run = {{run}}
    group by match, repetition
    having bool_or(not coalesce(checked, false) and digest in ({LEAKY}))
"""
"""Selects the matches of a run in which a leaky program has a seat that was not replayed alone."""

Progress = Callable[[int, int], None]
"""Called with the number of matches this session has recorded and the number it has to record in all.

The second number rises when an evolved program joins.
"""
Problem = tuple[str, str]
"""The name of a file that does not take part, and the reason."""


@dataclass(frozen=True)
class Participants:
    """The programs that play in a session, and the files that do not.

    `problems` are files that cannot play the game; `other_games` are bots that only play other games.
    """

    programs: tuple[Program, ...] = ()
    problems: tuple[Problem, ...] = ()
    other_games: tuple[Problem, ...] = ()


@dataclass
class Summary:
    """The result of a session, in numbers of matches.

    `planned` counts all matches, `before` those recorded before the session, and `played` those it recorded. `lost` are
    fixtures whose worker died every time, `leaky` the digests of leaky programs, and `signal` what stopped the session.
    """

    run: int
    planned: int
    before: int
    played: int = 0
    lost: tuple[Fixture, ...] = ()
    leaky: tuple[str, ...] = ()
    signal: int | None = None


def select_participants(setting: Setting, entrants: Entrants) -> Participants:
    """Return which bots can play in this setting, and which files are left out.

    Files that are not programs, duplicates and bots that do not play the game are left out. Raises the first
    `ProgramRefused` if no file is a program, and `UsageError` if none of the bots plays the game.
    """
    game = setting.game.name
    if not entrants.programs and entrants.refused:
        raise entrants.refused[0]
    playing = [program for program in entrants.programs if program.fits(setting)]
    if not playing:
        raise UsageError(f"none of the bots plays {game}: name other bots with --pop")
    problems, other_games = entrants.left_out, list[Problem]()
    for program in entrants.programs:
        if program not in playing:
            unfit = Path(program.path).name, f"plays {', '.join(program.plays)}"
            plays_others = program.games and game not in program.games
            (other_games if plays_others else problems).append(unfit)
    return Participants(tuple(playing), tuple(problems), tuple(other_games))


def run_key(contest: Contest) -> str:
    """Return a digest of everything, apart from the bots, that the outcomes of a run depend on."""
    limits = contest.limits
    return tape_name(RULES, contest.setting.key, contest.seed, limits.fuel, limits.memory)


@dataclass(frozen=True)
class SessionSettings:
    """The settings of a session: the contest, who plays, how many repetitions, and what evolves meanwhile."""

    contest: Contest
    lineup: Participants = Participants()
    repetitions: int = 1
    evolution: Evolution | None = None


@asynccontextmanager
async def open_sessions(
    path: Path, settings: Sequence[SessionSettings], worker_count: int, report: Say
) -> AsyncIterator[list["Session"]]:
    """Open the record and yield one session, ready to be run, for each of the given settings.

    All sessions use the bot limits (fuel and memory) of the first one. Evolution in all of them shares one set of
    limits for model calls. Raises the same errors as `Record.open`.
    """
    games = [each.contest.setting.game for each in settings]
    limits = settings[0].contest.limits
    async with open_resources(path, games, limits, worker_count, report) as resources:
        sessions = [Session(resources, each) for each in settings]
        if evolutions := [each.evolution for each in settings if each.evolution]:
            share_limits(evolutions, resources.record, [session.run for session in sessions])
        yield sessions


async def play_all_sessions(sessions: Sequence["Session"]) -> list[Summary]:
    """Run all sessions at the same time and return their summaries in the same order."""
    async with anyio.create_task_group() as group:
        for session in sessions:
            group.start_soon(session.play, lambda *_: None)
    return [session.summary for session in sessions]


class Session:
    """A session that is ready to be run. `missing` are the fixtures that are still to be played."""

    def __init__(self, resources: Resources, settings: SessionSettings) -> None:
        self.record = record = resources.record
        self.contest = contest = settings.contest
        self.lineup = settings.lineup
        self.repetitions = settings.repetitions
        self.evolution = settings.evolution
        self._pending_pool = resources.pending_pool
        self._stop = resources.stop
        fixtures = self._planned()
        config = contest.setting.config | {"limits": asdict(contest.limits), "rules": RULES}
        moves = contest.setting.game.moves
        self.run = record.begin_run(run_key(contest), config, contest.seed, moves)
        contest.leaky.update(digest for (digest,) in record.sql(LEAKY.format(run=self.run))[1])
        self._known = record.played(self.run)
        self.missing = self._new(fixtures)
        self.summary = Summary(self.run, len(fixtures), len(fixtures) - len(self.missing))

    async def play(self, progress: Progress) -> Summary:
        """Play and record the missing fixtures, and return the summary.

        A signal stops the session in good order: finished matches stay recorded, and the summary names the signal.
        """
        if self.missing or self.evolution or self._unsure():
            with self._stop.cancellable():
                plan = planned(self.contest, self.missing, self._pending_pool.count)
                await self._play(*await self._pending_pool.ready(), plan, progress)
        else:
            self.record.end_session(self._begin({}, None, 0), "done")
        self.summary.signal = self._stop.signal
        self.summary.leaky = tuple(sorted(self.contest.leaky.intersection(self.contest.programs)))
        return self.summary

    async def _play(self, pool: Pool, image: Image, plan: Plan, progress: Progress) -> None:
        """Play the plan, then replay what a leaky program may have made wrong; record how it ended."""
        session = self._begin(pool.layers, image, pool.count)
        try:
            count = partial(self._count, progress)
            async with Recorder.open(self.record, session, count) as recorder:
                again = await self._play_and_evolve(plan, pool, recorder, session)
            if again:
                self.record.replace(session, again)
            if unsure := self._unsure():
                plan = planned(self.contest, unsure, pool.count)
                self.record.replace(session, await self._play_all(plan, pool, None))
        except BaseException:
            with suppress(Exception):
                self.record.end_session(session, "interrupted" if self._stop.signal else "failed")
            raise
        self.record.end_session(session, "failed" if self.summary.lost else "done")

    async def _play_all(self, plan: Plan, pool: Pool, recorder: Recorder | None) -> list[Outcome]:
        """Play the plan and record the outcomes; return the outcomes that must replace recorded ones.

        Without a recorder, nothing is recorded here and all outcomes are returned.
        """
        again: list[Outcome] = []
        send, receive = anyio.create_memory_object_stream[Results](WAITING)
        async with anyio.create_task_group() as group, receive:
            group.start_soon(play_all, self.contest, plan, pool, send)
            async for results in receive:
                self.summary.lost += results.lost
                if results.again or recorder is None:
                    again += results.outcomes
                else:
                    await recorder.send(results.outcomes)
        return again

    async def _play_and_evolve(
        self, plan: Plan, pool: Pool, recorder: Recorder, session: int
    ) -> list[Outcome]:
        """Play the plan while chains evolve, and play the matches of each new program as soon as it joins.

        Returns the outcomes that must replace recorded ones.
        """
        again: list[Outcome] = []
        contest = self.contest

        async def play(plan: Plan) -> None:
            again.extend(await self._play_all(plan, pool, recorder))

        async with anyio.create_task_group() as group:

            async def admit(program: Program) -> None:
                """Let an evolved program join the tournament, unless it already takes part."""
                if contest.programs.setdefault(program.digest, program) is program:
                    self.record.admit(session, program)
                    new = self._new(self._planned())
                    self.summary.planned += len(new)
                    group.start_soon(play, planned(contest, new, pool.count))

            group.start_soon(play, plan)
            if self.evolution:
                evaluator = Evaluator(pool, contest.setting, contest.seed, contest.limits)
                group.start_soon(self.evolution.run, evaluator, self.record, self.run, admit)
        return again

    def _planned(self) -> list[Fixture]:
        return round_robin(self.contest.setting, list(self.contest.programs), self.repetitions)

    def _new(self, planned: Sequence[Fixture]) -> list[Fixture]:
        """Return the fixtures that are neither played nor already due to be played, and note them as due."""
        new = [fixture for fixture in planned if fixture not in self._known]
        self._known.update(new)
        return new

    def _unsure(self) -> list[Fixture]:
        """Fixtures that were played before one of their programs was known to be leaky.

        They may have been played in an earlier session. Fixtures with a program that is absent now are left out.
        """
        if not self.contest.leaky:
            return []
        rows = self.record.sql(UNSURE.format(run=self.run))[1]
        played = (Fixture(tuple(lineup), repetition) for lineup, repetition in rows)
        return [each for each in played if self.contest.programs.keys() >= set(each.lineup)]

    def _count(self, progress: Progress, outcomes: Sequence[Outcome]) -> None:
        """Count outcomes that have been recorded, and report the progress."""
        self.summary.played += len(outcomes)
        progress(self.summary.played, self.summary.planned - self.summary.before)

    def _begin(self, layers: dict[str, str], image: Image | None, worker_count: int) -> int:
        """Enter the session in the record and return its number. `image` is None if nothing will be played."""
        manifest = {
            "engine": __version__,
            "python": platform.python_version(),
            "wasmtime": version("wasmtime"),
            "platform": platform.platform(),
            "image": image.digest if image else None,
            "layers": layers,
            "workers": worker_count,
            "strict": self.contest.strict,
            "command": shlex.join(["tournament", *sys.argv[1:]]),
        }
        playing = [(program, program.name) for program in self.lineup.programs]
        left_out = self.lineup.problems + self.lineup.other_games
        return self.record.begin_session(self.run, manifest, playing, left_out)
