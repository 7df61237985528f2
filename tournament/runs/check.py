"""Checks a bot in the sandbox: whether it loads, makes legal moves and stays within its fuel and memory."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import anyio

from tournament.engine.run import Contest, workers
from tournament.errors import NotFound, UsageError, WorkerLost, ungrouped
from tournament.game import Game, MatrixGame, Repetition, Setting
from tournament.library import PROBES, Entrants, games, load_game
from tournament.match import Fault, Fixture, Outcome
from tournament.program import Program
from tournament.runs.single import played_strictly
from tournament.sandbox.image import Say
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.sandbox.ready import image_ready

ROUNDS = 20


@dataclass(frozen=True)
class Finding:
    """A fault, with the name of the game and the kind of play in which the bot committed it."""

    game: str
    play: str
    fault: Fault


@dataclass(frozen=True)
class Report:
    """The result of checking a program: its faults, or the `problem` that prevented the check.

    `matches` is the number of matches played. `fuel` is the average fuel used per move, in the match where this average
    was highest.
    """

    program: Program
    matches: int = 0
    fuel: int = 0
    findings: tuple[Finding, ...] = ()
    problem: str = ""

    @property
    def ok(self) -> bool:
        """Whether the program was checked and has no fault."""
        return not self.findings and not self.problem


def settings_for(program: Program, game: Game) -> list[Setting]:
    """Return the settings to check the program in.

    The games are those that the program's header names, or else the given game. A game without a state is checked both
    with one round and repeated. Raises `UsageError` if none of the games exists or none of the settings fits the
    program.
    """
    known = [name for name in program.games if name == game.name or name in games()]
    if program.games and not known:
        raise NotFound("game", program.games[0], games())
    candidates = [game if name == game.name else load_game(name) for name in known or [game.name]]
    fitting = [
        setting
        for candidate in candidates
        for rounds in ((1, ROUNDS) if isinstance(candidate, MatrixGame) else (1,))
        if program.fits(setting := Setting(candidate, Repetition(rounds)))
    ]
    if not fitting:
        plays = ", ".join(program.plays)
        raise UsageError(
            f"its header says `Plays: {plays}`, and {game.name} does not fit: name a game with --game"
        )
    return fitting


def check(entrants: Entrants, game: str, report: Say, limits: Limits) -> list[Report]:
    """Play each program against `PROBES` and itself, in every seat, and return its faults.

    The reports of files that are not programs come first, then those of the programs, then those of the duplicates.
    """
    default = load_game(game)
    reports: dict[str, Report] = {}
    settings: dict[Program, list[Setting]] = {}
    for program in entrants.programs:
        try:
            settings[program] = settings_for(program, default)
        except UsageError as error:
            reports[program.digest] = Report(program, problem=str(error))

    async def check_all() -> None:
        games = {each.game.name: each.game for fitting in settings.values() for each in fitting}
        async with workers(await image_ready(report), 1, limits, [*games.values()]) as pool:
            for program, fitting in settings.items():
                reports[program.digest] = await _check(program, fitting, limits, pool)

    if settings:
        with ungrouped():
            anyio.run(check_all)
    return [
        *(Report(Program("", "", e.file), problem=e.problem) for e in entrants.refused),
        *(reports[program.digest] for program in entrants.programs),
        *(replace(reports[each.digest], program=each) for each, _ in entrants.duplicates),
    ]


async def _check(
    program: Program, settings: Sequence[Setting], limits: Limits, pool: Pool
) -> Report:
    """Check one program. Of faults with the same kind and message, only the first is reported."""
    findings: dict[tuple[str, str], Finding] = {}
    matches, most_fuel = 0, 0
    programs = {each.digest: each for each in (program, *PROBES)}
    try:
        for setting in settings:
            contest = Contest(setting, 0, programs, limits)
            for outcome in await played_strictly(contest, _fixtures(program, setting), pool):
                matches += 1
                most_fuel = max([most_fuel, *_fuel(program, outcome)])
                for fault in outcome.faults:
                    if outcome.fixture.lineup[fault.seat] == program.digest:
                        finding = Finding(setting.game.name, setting.length, fault)
                        findings.setdefault((fault.kind, fault.message), finding)
    except WorkerLost as error:
        return Report(program, problem=str(error))
    return Report(program, matches, most_fuel, tuple(findings.values()))


def _fixtures(program: Program, setting: Setting) -> list[Fixture]:
    """Return the fixtures in which the program plays against each probe in each seat, and against itself."""
    seats = range(setting.game.seats)
    fixtures = [
        Fixture(tuple(program.digest if seat == own else probe.digest for seat in seats), 0)
        for probe in PROBES
        for own in seats
    ]
    return [*fixtures, Fixture((program.digest,) * len(seats), 0)]


def _fuel(program: Program, outcome: Outcome) -> list[int]:
    """Return the average fuel per move of each seat of the match that the program played."""
    seats = zip(outcome.fixture.lineup, outcome.fuel, outcome.moves, strict=False)
    return [fuel // max(1, len(moves)) for digest, fuel, moves in seats if digest == program.digest]
