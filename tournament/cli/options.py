"""The options that several commands share: their names, help texts and defaults, and what they are turned into."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tournament.errors import UsageError

if TYPE_CHECKING:
    from tournament.game import Repetition, Setting
    from tournament.sandbox.limits import Limits

RESULTS = Path("results/tournament.duckdb")
FUEL = 1_000_000_000

Game = Annotated[
    str, typer.Option("--game", "-g", metavar="NAME", help="A game by name, or a file of your own.")
]
Games = Annotated[
    list[str] | None,
    typer.Option(
        "--game",
        "-g",
        metavar="NAME",
        help="A game by name, or a file of your own. Given again: chains over others as well.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="K=V", help="A parameter of the game; may be given many times."),
]
Seed = Annotated[int, typer.Option(metavar="S", help="Names every tape: same seed, same play.")]
Fuel = Annotated[int, typer.Option(metavar="F", help="What a bot may burn in a move.")]
Db = Annotated[Path, typer.Option("--db", metavar="FILE", help="The record.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Run = Annotated[int | None, typer.Option("--run", metavar="R", help="A run (the latest).")]
OfRun = Annotated[int | None, typer.Option("--run", metavar="R", help="Of one run alone (of any).")]
OfChain = Annotated[
    int | None, typer.Option("--chain", metavar="N", help="Of one chain alone (of any).")
]
Workers = Annotated[
    int | None, typer.Option(metavar="W", min=1, max=1024, help="Worker processes (one a core).")
]


@dataclass(frozen=True)
class Terms:
    """How a game is played: the options shared by the commands that let the user choose this."""

    set_: Set = None
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="N", help="Repeat the game N times (once).")
    ] = None
    continuation: Annotated[
        float | None,
        typer.Option(
            "--continue", metavar="P", help="Or: play on with probability P after each round."
        ),
    ] = None
    discount: Annotated[
        float, typer.Option(metavar="D", help="Round r counts D to the power r.")
    ] = 1.0
    noise: Annotated[
        float, typer.Option(metavar="E", help="A move is another with probability E.")
    ] = 0.0

    def setting(self, game: str) -> "Setting":
        """Return the setting of this game with these options. Raises `UsageError` for a wrong option or game."""
        from tournament.game import Setting
        from tournament.library import load_game

        return Setting(load_game(game, self.parameters), self.repetition)

    @property
    def parameters(self) -> dict[str, str]:
        """The texts of the game's parameters by name, from `--set`. Raises `UsageError` for one without `=`."""
        return dict(_pair(text) for text in self.set_ or ())

    @property
    def repetition(self) -> "Repetition":
        """How a match repeats the game; without options, it has one round. Raises `UsageError` for wrong values."""
        from tournament.game import Repetition

        said = self.rounds is not None or self.continuation is not None
        rounds = self.rounds if said else 1
        return Repetition(rounds, self.continuation, self.discount, self.noise)


@dataclass(frozen=True)
class EvolutionOptions:
    """How programs evolve: the options shared by the commands that evolve programs.

    An option that is None takes its value from the environment, see `Settings`.
    """

    oracle: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPEC[,...]",
            help="Who writes programs, for all seats or each: search, chat:MODEL, manual:FOLDER, replay:FILE. "
            "Given again: chains of others as well.",
        ),
    ] = None
    outer: Annotated[int, typer.Option("-K", metavar="K", min=1, help="Rounds over the seats.")] = 5
    inner: Annotated[
        int, typer.Option("-T", metavar="T", min=1, help="Steps of a seat in a round.")
    ] = 3
    episodes: Annotated[int, typer.Option(metavar="N", min=1, help="Matches to a rollout.")] = 10
    objective: Annotated[
        str, typer.Option(metavar="WHAT", help="What to make large: welfare, own or both.")
    ] = "welfare"
    order: Annotated[
        str, typer.Option(metavar="HOW", help="How seats come: turn or simultaneous.")
    ] = "turn"
    short_prompts: Annotated[
        bool, typer.Option("--short-prompts", help="Ask with one short prompt, for small models.")
    ] = False
    model: Annotated[str | None, typer.Option(metavar="NAME", help="What chat asks.")] = None
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="The model's server.")] = None
    temperature: Annotated[
        float | None, typer.Option(metavar="T", help="Of sampling (the server's).")
    ] = None
    max_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="The most tokens of an answer.")
    ] = None
    budget_money: Annotated[
        str | None, typer.Option(metavar="USD", help="The most to spend on models.")
    ] = None
    budget_tokens: Annotated[
        int | None, typer.Option(metavar="N", help="The most tokens to use.")
    ] = None
    budget_calls: Annotated[
        int | None, typer.Option(metavar="N", help="The most calls to make.")
    ] = None
    price_in: Annotated[
        str | None, typer.Option(metavar="USD", help="What a million tokens of prompts cost.")
    ] = None
    price_out: Annotated[
        str | None, typer.Option(metavar="USD", help="What a million tokens of answers cost.")
    ] = None
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", help="The most calls at once.")
    ] = None
    requests_per_minute: Annotated[
        int | None, typer.Option(metavar="N", help="The most requests in a minute.")
    ] = None
    tokens_per_minute: Annotated[
        int | None, typer.Option(metavar="N", help="The most tokens in a minute.")
    ] = None
    time_limit: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds for a request.")
    ] = None
    retries: Annotated[int | None, typer.Option(metavar="N", help="More tries of a call.")] = None
    prompts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Prompt templates of yours.")
    ] = None


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with each dataclass parameter replaced by one option for each field of the dataclass.

    When the command is called, its dataclass arguments are built from the options.
    """
    signature = inspect.signature(command)
    groups: dict[str, Any] = {
        name: own.annotation
        for name, own in signature.parameters.items()
        if is_dataclass(own.annotation)
    }

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    parameters = [
        option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, own in signature.parameters.items()
        for option in (
            inspect.signature(groups[name]).parameters.values() if name in groups else [own]
        )
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _pair(text: str) -> tuple[str, str]:
    """Split `NAME=VALUE` into name and value. Raises `UsageError` if there is no `=`."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set takes NAME=VALUE, not {text!r}")
    return name.strip(), value.strip()


def limits_of(fuel: int) -> "Limits":
    """Return the limits of a bot with this fuel for one call. Raises `UsageError` if it is out of range."""
    from tournament.sandbox.limits import LEAST_FUEL, MOST_FUEL, Limits

    if not LEAST_FUEL <= fuel <= MOST_FUEL:
        raise UsageError(f"--fuel is {fuel:,}, and must be from {LEAST_FUEL:,} to {MOST_FUEL:,}")
    return Limits(fuel=fuel)
