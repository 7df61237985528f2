"""The commands that grow programs and look at what was grown. No logic, as in `cli.py`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tournament import cli
from tournament.cli import FAULT, FUEL, RESULTS, app
from tournament.errors import NotFound, UsageError

if TYPE_CHECKING:
    from tournament.evolve.pibr import Step
    from tournament.grow import Growth


def make_growth(
    chains: int,
    seed: int,
    oracle: str | None,
    outer: int,
    inner: int,
    episodes: int,
    objective: str,
    order: str,
    terse: bool,
    **options: Any,
) -> "Growth":
    """What is to be grown. Raises `UsageError` for what cannot be."""
    from tournament.evolve.makers import checked
    from tournament.evolve.pibr import ORDERS, Plan
    from tournament.evolve.response import OBJECTIVES
    from tournament.grow import Growth
    from tournament.oracles.settings import Settings
    from tournament.oracles.spec import default_spec

    if objective not in OBJECTIVES:
        raise NotFound("objective", objective, list(OBJECTIVES))
    if order not in ORDERS:
        raise NotFound("order", order, list(ORDERS))
    settings = Settings.load(**options)
    specs = [spec.strip() for spec in (oracle or default_spec(settings)).split(",")]
    checked(specs, settings)
    return Growth(
        names=[f"pibr_{seed}_{number}" for number in range(chains)],
        plan=Plan(outer, inner, episodes, objective, order),
        oracles=specs,
        settings=settings,
        say=cli._say,
        watch=_watch,
        terse=terse,
    )


def _watch(chain: str, step: "Step") -> None:
    if step.evaluation is None:
        why = ": ".join(filter(None, [step.outcome, step.note]))
        came = f"a gap ({why})"
    else:
        came = f"welfare {step.evaluation.welfare:g}{', the best so far' if step.best else ''}"
    cli._say(f"{chain}, step {step.number}: seat {step.seat}, {came}")


@app.command()
def evolve(
    game: cli.Game = "prisoners_dilemma",
    set_: cli.Set = None,
    rounds: cli.Rounds = None,
    continuation: cli.Continue = None,
    discount: cli.Discount = 1.0,
    noise: cli.Noise = 0.0,
    oracle: cli.Oracle = None,
    outer: cli.Outer = 5,
    inner: cli.Inner = 3,
    episodes: cli.Episodes = 10,
    objective: cli.Objective = "welfare",
    order: Annotated[str, typer.Option(metavar="HOW", help="turn or simultaneous.")] = "turn",
    chains: Annotated[int, typer.Option(metavar="N", min=1, help="Chains grown at once.")] = 1,
    evaluate: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Matches that the best profile plays afterwards."),
    ] = 0,
    terse: cli.Terse = False,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="For chat.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The model's server.")] = None,
    temperature: Annotated[float | None, typer.Option(metavar="T")] = None,
    max_tokens: Annotated[int | None, typer.Option(metavar="N", help="Of an answer.")] = None,
    budget_money: Annotated[str | None, typer.Option(metavar="USD", help="Stop there.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(metavar="N", help="Stop there.")] = None,
    budget_calls: Annotated[int | None, typer.Option(metavar="N", help="Stop there.")] = None,
    price_in: Annotated[str | None, typer.Option(metavar="USD", help="A million tokens.")] = None,
    price_out: Annotated[str | None, typer.Option(metavar="USD", help="A million tokens.")] = None,
    concurrency: Annotated[int | None, typer.Option(metavar="N", help="Calls at once.")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(metavar="N")] = None,
    tokens_per_minute: Annotated[int | None, typer.Option(metavar="N")] = None,
    time_limit: Annotated[float | None, typer.Option(metavar="S", help="Of a call.")] = None,
    retries: Annotated[int | None, typer.Option(metavar="N", help="Of a call.")] = None,
    prompts: Annotated[Path | None, typer.Option(metavar="DIR", help="Own templates.")] = None,
    seed: cli.Seed = 0,
    workers: Annotated[int | None, typer.Option(metavar="W", min=1, max=1024)] = None,
    fuel: cli.Fuel = FUEL,
    db: cli.Db = RESULTS,
    json: cli.Json = False,
) -> None:
    """Grow programs by iterated best response (PIBR), each seat's in answer to the others' source.

    Without --oracle: the model that is set (see `tournament models`), or a search that needs none. The same command
    again repeats no paid call.

    Example: tournament evolve --game climbing --oracle search -K 2 -T 2
    """
    import os

    import anyio

    from tournament.engine.run import Contest
    from tournament.report import growth as told
    from tournament.sitting import Lineup, Sitting
    from tournament.store import Record

    setting = cli._setting(game, set_, rounds, continuation, discount, noise)
    growth = make_growth(
        chains,
        seed,
        oracle,
        outer,
        inner,
        episodes,
        objective,
        order,
        terse,
        model=model,
        base_url=base_url,
        temperature=temperature,
        max_tokens=max_tokens,
        budget_money=budget_money,
        budget_tokens=budget_tokens,
        budget_calls=budget_calls,
        price_in=price_in,
        price_out=price_out,
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        time_limit=time_limit,
        retries=retries,
        prompts=prompts,
    )
    growth.joins, growth.evaluate = False, evaluate
    if len(growth.oracles) not in (1, setting.game.seats):
        raise UsageError(f"--oracle takes one oracle, or {setting.game.seats} separated by commas")
    contest = Contest(setting, seed, {}, cli._limits(fuel))
    with Record.open(db) as record:
        sitting = Sitting(record, contest, Lineup((), (), ()), 1, growth)
        summary = anyio.run(sitting.hold, workers or os.cpu_count() or 1, cli._say, lambda _: None)
        if summary.signal:
            cli._say("stopped; the same command goes on from there")
            sys.exit(128 + summary.signal)
        told.show(setting, growth, summary.run, json)
    if growth.best.profile is None or growth.failed:
        sys.exit(FAULT)


@app.command()
def models(
    names: Annotated[list[str] | None, typer.Argument(metavar="[chat:MODEL]...")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The models' server.")] = None,
    json: cli.Json = False,
) -> None:
    """Ask each model one tiny question, before money is spent. Exit 1 if one does not answer.

    Example: tournament models chat:openai/o4-mini
    """
    import anyio

    from tournament.oracles.models import probe
    from tournament.oracles.settings import Settings

    settings = Settings.load(**({"base_url": base_url} if base_url else {}))
    rows = [vars(each) for each in anyio.run(probe, names or ["chat"], settings)]
    cli._print(rows, json)
    if not all(row["ok"] for row in rows):
        sys.exit(FAULT)


@app.command()
def export(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="Name, step, number or digest.")
    ],
    db: cli.Db = RESULTS,
    json: cli.Json = False,
) -> None:
    """Print a recorded program's source, to be a bot's file.

    Example: tournament export pibr_0_0_1_0_2 > bots/mine.py
    """
    from tournament.report import tables

    with cli._reading(db) as record:
        found = record.find_program(program)
    if json:
        tables.show_json({"name": found.name, "digest": found.digest, "source": found.source})
    else:
        sys.stdout.write(found.source)


@app.command()
def lineage(
    program: Annotated[
        str, typer.Argument(metavar="PROGRAM", help="Name, step, number or digest.")
    ],
    db: cli.Db = RESULTS,
    json: cli.Json = False,
) -> None:
    """How a program came to be: each step's code as a difference, what was said of it, what it was worth.

    Example: tournament lineage pibr_0_0_1_0_2
    """
    from tournament.report import lineage as told

    with cli._reading(db) as record:
        found = record.find_program(program)
        chains = cli._rows(record, told.CHAINS.format(digest=found.digest))
        if not chains:
            raise UsageError(f"{found.name} was not grown: it came from {found.path or 'a bot'}")
        steps = record.steps(chains[0]["chain"])
    told.show(chains[0]["name"], told.ancestry(steps, found), json)


@app.command()
def plot(
    what: Annotated[str, typer.Argument(metavar="welfare")],
    run: cli.Run = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .png, .svg or .pdf.")] = Path(
        "results/welfare.png"
    ),
    game: Annotated[str | None, typer.Option(metavar="FILE", help="A game of your own.")] = None,
    db: cli.Db = RESULTS,
) -> None:
    """Draw social welfare against the steps of a run's chains, as in the PIBR paper.

    Example: tournament plot welfare --out results/welfare.svg
    """
    import json

    from tournament.evolve.optimum import mean_optimum
    from tournament.replay import recorded_setting
    from tournament.report.plot import STEPS, plot_welfare

    if what != "welfare":
        raise NotFound("plot", what, ["welfare"])
    with cli._reading(db) as record:
        number = cli._run(record, run)
        rows = cli._rows(record, STEPS.format(run=number))
        [config] = cli._rows(record, f"select config from runs where run = {number}")
    setting = recorded_setting(json.loads(config["config"]), game)
    title = f"{setting.game.name} (run {number})"
    plot_welfare(rows, mean_optimum(setting), title, out)
    cli._say(f"drawn to {out}")
