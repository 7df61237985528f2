"""The commands that evolve programs and show the evolved programs."""

import itertools
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tournament.cli import options
from tournament.cli.app import FAULT, print_message
from tournament.cli.options import FUEL, RESULTS, EvolutionOptions, Terms, limits_of, option
from tournament.cli.reading import open_record, rows_of, run_of, show_rows
from tournament.errors import NotFound

if TYPE_CHECKING:
    from tournament.evolve.pibr import Step
    from tournament.game import Setting
    from tournament.report.naming import Names
    from tournament.runs.evolution import Evolution
    from tournament.store import Record

FIGURE = Path("results/welfare.png")
PROGRAM = "The name, number or digest of a program, or the name of a step"


def make_evolution(
    given: EvolutionOptions,
    chains: int,
    seed: int,
    setting: "Setting",
    report: Callable[[str], None] = print_message,
) -> "Evolution":
    """Return the evolution that the options describe: `chains` chains for each `--oracle` option.

    `report` prints messages. Raises `UsageError` for options that cannot be used.
    """
    from tournament.evolve.factories import check_oracles
    from tournament.evolve.pibr import EvolutionPlan
    from tournament.oracles.settings import Settings
    from tournament.oracles.spec import default_spec, split
    from tournament.runs.evolution import Evolution, check_recording

    plan = EvolutionPlan(
        given.outer, given.inner, given.episodes, given.objective, given.order, given.short_prompts
    )
    fields = Settings.model_fields.keys() & vars(given).keys() - {"oracle"}
    settings = Settings.load(**{name: vars(given)[name] for name in fields})
    teams = [split(text) for text in given.oracle or [default_spec(settings)]]
    for team in teams:
        check_oracles(team, settings, setting, check_recording)
    repeated = itertools.chain.from_iterable([team] * chains for team in teams)
    return Evolution(
        chains={f"pibr_{seed}_{number}": team for number, team in enumerate(repeated)},
        plan=plan,
        settings=settings,
        say=report,
        watch=partial(_report_step, report),
    )


def _report_step(report: Callable[[str], None], chain: str, step: "Step") -> None:
    """Print the result of a step of a chain."""
    if step.evaluation is None:
        reason = ": ".join(filter(None, [step.outcome, step.note]))
        result = f"no program that runs ({reason})"
    else:
        problem = "" if step.outcome == "ok" else f" ({step.outcome})"
        best = ", the best so far" if step.best else ""
        result = f"welfare {step.evaluation.welfare:g}{problem}{best}"
    report(f"{chain}, step {step.number}: seat {step.seat}, {result}")


@options.with_groups
def evolve(
    *,
    game: options.Games = None,
    terms: Terms,
    chains: Annotated[int, option("N", "How many chains to evolve for each --oracle.", min=1)] = 1,
    evaluate: Annotated[
        int, option("N", "Measure the best profile again in N more matches at the end.", min=0)
    ] = 0,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    fuel: options.Fuel = FUEL,
    db: options.Db = RESULTS,
    json: options.Json = False,
    evolution_options: EvolutionOptions,
) -> None:
    """Evolve programs by iterated best response (PIBR): each is written in answer to the source of the others.

    Without --oracle, the model that is set writes the programs (see `tournament models`), or else a search that needs
    no model. Run the same command again to continue after a stop: no call to a model is paid twice. With several games,
    --set NAME=VALUE applies to every game that has the parameter, and --set GAME.NAME=VALUE to one game.

    Example: tournament evolve --game climbing --oracle search -K 2 -T 2
    """
    import os

    import anyio

    from tournament.engine.run import Contest
    from tournament.game import Setting
    from tournament.library import load_games
    from tournament.report import evolution as results
    from tournament.runs.session import SessionSettings, open_sessions, play_all_sessions

    repetition, limits = terms.repetition, limits_of(fuel)
    games = load_games(game or ["prisoners_dilemma"], terms.parameters)
    settings = []
    for each in games:
        report = partial(_report_for, each.name) if len(games) > 1 else print_message
        setting = Setting(each, repetition)
        evolution = make_evolution(evolution_options, chains, seed, setting, report)
        evolution.joins, evolution.evaluate = False, evaluate
        settings.append(SessionSettings(Contest(setting, seed, {}, limits), evolution=evolution))

    async def play_sessions() -> int:
        count = workers or os.cpu_count() or 1
        async with open_sessions(db, settings, count, print_message) as sessions:
            summaries = await play_all_sessions(sessions)
            runs = ", ".join(str(session.run) for session in sessions)
            [spending] = rows_of(sessions[0].record, results.SPENDING.format(runs=runs))
        if signal := summaries[0].signal:
            print_message("stopped: run the same command again to continue")
            return 128 + signal
        results.show(sessions, spending, json)
        return FAULT if any(each.evolution.failed for each in settings if each.evolution) else 0

    sys.exit(anyio.run(play_sessions))


def _report_for(game: str, line: str) -> None:
    """Print a line that starts with the name of the game."""
    print_message(f"{game}: {line}")


def models(
    names: Annotated[list[str] | None, typer.Argument(metavar="chat:MODEL")] = None,
    base_url: Annotated[str | None, option("URL", "The address of the models' server.")] = None,
    json: options.Json = False,
) -> None:
    """Test whether models answer, with one tiny question to each, before you spend money on them.

    Without names, the models in your settings are tested. The exit code is 1 if a model does not answer.

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
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help=f"{PROGRAM}.")],
    run: options.OnlyRun = None,
    chain: options.OnlyChain = None,
    db: options.Db = RESULTS,
    json: options.Json = False,
) -> None:
    """Print the source of a recorded program, for example to save it as a bot.

    Example: tournament export pibr_0_0_1_0_2 > bots/mine.py
    """
    from tournament.report import tables

    with open_record(db) as record:
        found = _names(record, run, chain).program(program)
    if json:
        tables.show_json({"name": found.name, "digest": found.digest, "source": found.source})
    else:
        sys.stdout.write(found.source)


def lineage(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help=f"{PROGRAM} or a chain.")],
    run: options.OnlyRun = None,
    chain: options.OnlyChain = None,
    db: options.Db = RESULTS,
    json: options.Json = False,
) -> None:
    """Print how a program evolved: for each step the change to its code, the review of the code, and the welfare.

    For a chain, all its steps are printed. If several steps or chains have the name, the latest is used and a message
    lists the others.

    Example: tournament lineage pibr_0_0_1_0_2
    """
    from tournament.report import lineage as lineages

    with open_record(db) as record:
        steps = lineages.find_steps(record, program, _names(record, run, chain))
    lineages.show(*steps, json)


def _names(record: "Record", run: int | None, chain: int | None) -> "Names":
    """Return the object that finds programs and chains by name, within a run or a chain if one is given."""
    from tournament.report.naming import Names

    if run is not None:
        run_of(record, run)
    return Names(record, print_message, run, chain)


def plot(
    what: Annotated[str, typer.Argument(metavar="welfare")],
    run: options.Run = None,
    chain: Annotated[
        list[int] | None,
        option("N", "A chain; may be repeated (default: all that have the latest chain's plan)."),
    ] = None,
    out: Annotated[Path, option("FILE", "A .png, .svg or .pdf file to write.")] = FIGURE,
    game: options.GameFile = None,
    db: options.Db = RESULTS,
) -> None:
    """Draw the social welfare after each step of a run's chains, as in the PIBR paper.

    Example: tournament plot welfare --out results/welfare.svg
    """
    import json

    from tournament.evolve.optimum import mean_optimum, published_optimum
    from tournament.report.naming import chains_to_plot
    from tournament.report.plot import STEPS, plot_welfare
    from tournament.runs.replay import recorded_setting

    if what != "welfare":
        raise NotFound("plot", what, ["welfare"])
    with open_record(db) as record:
        number = run_of(record, run)
        chains = chains_to_plot(record, number, chain or (), print_message)
        numbers = ", ".join(str(each.chain) for each in chains)
        rows = rows_of(record, STEPS.format(chains=numbers))
        [config] = rows_of(record, f"select config from runs where run = {number}")
    setting = recorded_setting(json.loads(config["config"]), game)
    lines = {"Optimal": mean_optimum(setting), "As published": published_optimum(setting)}
    title = f"run {number}, {'chain' if len(chains) == 1 else 'chains'} {numbers}"
    plot_welfare(rows, lines, f"{setting.game.name} ({title})", out)
    print_message(f"wrote {out}")
