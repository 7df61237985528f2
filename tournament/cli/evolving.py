"""The commands that evolve programs and show the evolved programs."""

import itertools
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tournament.cli.app import FAULT, say
from tournament.cli.options import (
    FUEL,
    RESULTS,
    Db,
    EvolutionOptions,
    Fuel,
    Games,
    Json,
    OfChain,
    OfRun,
    Run,
    Seed,
    Terms,
    Workers,
    limits_of,
    with_groups,
)
from tournament.cli.reading import reading, rows_of, run_of, show_rows
from tournament.errors import NotFound

if TYPE_CHECKING:
    from tournament.evolve.pibr import Step
    from tournament.game import Setting
    from tournament.oracles.oracle import Notify
    from tournament.report.naming import Names
    from tournament.runs.evolution import Evolution
    from tournament.store import Record


def make_evolution(
    growing: EvolutionOptions, chains: int, seed: int, setting: "Setting", tell: "Notify" = say
) -> "Evolution":
    """Return the evolution that the options describe: `chains` chains for each `--oracle` option.

    `tell` prints messages. Raises `UsageError` for options that cannot be used.
    """
    from tournament.evolve.factories import check_oracles
    from tournament.evolve.pibr import EvolutionPlan
    from tournament.oracles.settings import Settings
    from tournament.oracles.spec import default_spec, split
    from tournament.runs.evolution import Evolution, check_recording

    plan = EvolutionPlan(
        growing.outer,
        growing.inner,
        growing.episodes,
        growing.objective,
        growing.order,
        growing.short_prompts,
    )
    options = vars(growing)
    fields = Settings.model_fields.keys() & options.keys() - {"oracle"}
    settings = Settings.load(**{name: options[name] for name in fields})
    teams = [split(text) for text in growing.oracle or [default_spec(settings)]]
    for team in teams:
        check_oracles(team, settings, setting, check_recording)
    grown = itertools.chain.from_iterable([team] * chains for team in teams)
    return Evolution(
        chains={f"pibr_{seed}_{number}": team for number, team in enumerate(grown)},
        plan=plan,
        settings=settings,
        say=tell,
        watch=partial(_watch, tell),
    )


def _watch(tell: "Notify", chain: str, step: "Step") -> None:
    """Print what a step of a chain resulted in."""
    if step.evaluation is None:
        why = ": ".join(filter(None, [step.outcome, step.note]))
        came = f"a gap ({why})"
    else:
        how = "" if step.outcome == "ok" else f" ({step.outcome})"
        came = f"welfare {step.evaluation.welfare:g}{how}{', the best so far' if step.best else ''}"
    tell(f"{chain}, step {step.number}: seat {step.seat}, {came}")


def _say_of(game: str, line: str) -> None:
    """Print a line that starts with the name of the game."""
    say(f"{game}: {line}")


@with_groups
def evolve(
    *,
    game: Games = None,
    terms: Terms,
    chains: Annotated[int, typer.Option(metavar="N", min=1, help="Chains grown at once.")] = 1,
    evaluate: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Matches that the best profile plays afterwards."),
    ] = 0,
    seed: Seed = 0,
    workers: Workers = None,
    fuel: Fuel = FUEL,
    db: Db = RESULTS,
    json: Json = False,
    growing: EvolutionOptions,
) -> None:
    """Grow programs by iterated best response (PIBR), each seat's in answer to the others' source.

    Without --oracle: the model that is set (see `tournament models`), or a search that needs none. The same command
    again repeats no paid call. Of several games, --set K=V is for all that have a K, and --set GAME.K=V for one.

    Example: tournament evolve --game climbing --oracle search -K 2 -T 2
    """
    import os

    import anyio

    from tournament.engine.run import Contest
    from tournament.game import Setting
    from tournament.library import load_games
    from tournament.report import evolution as told
    from tournament.runs.session import SessionSettings, open_sessions, play_all_sessions

    repetition, limits = terms.repetition, limits_of(fuel)
    games = load_games(game or ["prisoners_dilemma"], terms.parameters)
    tables = []
    for each in games:
        tell = partial(_say_of, each.name) if len(games) > 1 else say
        setting = Setting(each, repetition)
        evolution = make_evolution(growing, chains, seed, setting, tell)
        evolution.joins, evolution.evaluate = False, evaluate
        tables.append(SessionSettings(Contest(setting, seed, {}, limits), evolution=evolution))

    async def sit() -> int:
        async with open_sessions(db, tables, workers or os.cpu_count() or 1, say) as sessions:
            summaries = await play_all_sessions(sessions)
            grown = [
                told.EvolvedRun(s.contest.setting, s.evolution, s.run)
                for s in sessions
                if s.evolution
            ]
            runs = ", ".join(str(each.run) for each in grown)
            [spending] = rows_of(sessions[0].record, told.SPENDING.format(runs=runs))
        if signal := summaries[0].signal:
            say("stopped; the same command goes on from there")
            return 128 + signal
        told.show(grown, spending, json)
        return FAULT if any(each.evolution.failed for each in grown) else 0

    sys.exit(anyio.run(sit))


def models(
    names: Annotated[list[str] | None, typer.Argument(metavar="[chat:MODEL]...")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The models' server.")] = None,
    json: Json = False,
) -> None:
    """Ask each model one tiny question, before money is spent: those named, or those set. Exit 1 if one is silent.

    Example: tournament models chat:openai/o4-mini
    """
    import anyio

    from tournament.oracles.models import probe
    from tournament.oracles.settings import Settings
    from tournament.oracles.spec import models_set

    settings = Settings.load(base_url=base_url)
    rows = [vars(each) for each in anyio.run(probe, names or models_set(settings), settings)]
    show_rows(rows, json)
    if not all(row["ok"] for row in rows):
        sys.exit(FAULT)


def export(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="Name, step, number or digest.")
    ],
    run: OfRun = None,
    chain: OfChain = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """Print a recorded program's source, to be a bot's file.

    Example: tournament export pibr_0_0_1_0_2 > bots/mine.py
    """
    from tournament.report import tables

    with reading(db) as record:
        found = _names(record, run, chain).program(program)
    if json:
        tables.show_json({"name": found.name, "digest": found.digest, "source": found.source})
    else:
        sys.stdout.write(found.source)


def lineage(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="Name, step, number or digest; or a chain.")
    ],
    run: OfRun = None,
    chain: OfChain = None,
    db: Db = RESULTS,
    json: Json = False,
) -> None:
    """How a program came to be: each step's code as a difference, what was said of it, what it was worth.

    Of a chain, all its steps. Where a name stands for several, the latest is taken, and said.

    Example: tournament lineage pibr_0_0_1_0_2
    """
    from tournament.report import lineage as told

    with reading(db) as record:
        story = told.story(record, program, _names(record, run, chain))
    told.show(*story, json)


def _names(record: "Record", run: int | None, chain: int | None) -> "Names":
    """Return what finds programs and chains by name, restricted to a run or a chain if one is given."""
    from tournament.report.naming import Names

    if run is not None:
        run_of(record, run)
    return Names(record, say, run, chain)


def plot(
    what: Annotated[str, typer.Argument(metavar="welfare")],
    run: Run = None,
    chain: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", help="Of one chain, or given again of several (of the latest plan's)."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .png, .svg or .pdf.")] = Path(
        "results/welfare.png"
    ),
    game: Annotated[str | None, typer.Option(metavar="FILE", help="A game of your own.")] = None,
    db: Db = RESULTS,
) -> None:
    """Draw social welfare against the steps of a run's chains, as in the PIBR paper.

    Example: tournament plot welfare --out results/welfare.svg
    """
    import json

    from tournament.evolve.optimum import mean_optimum, published_optimum
    from tournament.report.naming import drawn
    from tournament.report.plot import STEPS, plot_welfare
    from tournament.runs.replay import recorded_setting

    if what != "welfare":
        raise NotFound("plot", what, ["welfare"])
    with reading(db) as record:
        number = run_of(record, run)
        chains = drawn(record, number, chain or (), say)
        numbers = ", ".join(str(each.chain) for each in chains)
        rows = rows_of(record, STEPS.format(chains=numbers))
        [config] = rows_of(record, f"select config from runs where run = {number}")
    setting = recorded_setting(json.loads(config["config"]), game)
    lines = {"Optimal": mean_optimum(setting), "As published": published_optimum(setting)}
    which = f"run {number}, {'chain' if len(chains) == 1 else 'chains'} {numbers}"
    plot_welfare(rows, lines, f"{setting.game.name} ({which})", out)
    say(f"drawn to {out}")
