"""The options that several commands share: their names, help texts, defaults, and the objects made from them."""

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


def option(names: str, help: str, **limits: Any) -> Any:
    """Return an option. `names` are its names, unless it is named after its parameter, and a placeholder."""
    *own, placeholder = names.split()
    return typer.Option(*own, metavar=placeholder, help=help, **limits)


GAME = "The name of a game, or a .py file that defines one"
Game = Annotated[str, option("--game -g NAME", f"{GAME}.")]
Games = Annotated[
    list[str] | None, option("--game -g NAME", f"{GAME}; repeat it to evolve in several games.")
]
GameFile = Annotated[str | None, option("FILE", "The game's file, if the game is your own.")]
Set = Annotated[
    list[str] | None, option("--set NAME=VALUE", "A parameter of the game; may be repeated.")
]
Seed = Annotated[int, option("N", "The number from which all random draws follow.")]
Fuel = Annotated[int, option("N", "The most WebAssembly instructions a bot may use for a move.")]
Db = Annotated[Path, option("FILE", "The record: a DuckDB file with all that was played.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Run = Annotated[int | None, option("N", "The number of the run (default: the latest).")]
OnlyRun = Annotated[int | None, option("--run N", "Search only in this run.")]
OnlyChain = Annotated[int | None, option("--chain N", "Search only in this chain.")]
Bots = Annotated[
    list[Path] | None,
    option("--pop -p PATH", "A bot or a folder of bots; may be repeated (default: packaged bots)."),
]
Workers = Annotated[
    int | None, option("N", "Worker processes (default: one for each core).", min=1, max=1024)
]


@dataclass(frozen=True)
class Terms:
    """How a game is played: the options shared by the commands that let the user choose this."""

    set_: Set = None
    rounds: Annotated[int | None, option("N", "The rounds of a match (default: 1).")] = None
    continuation: Annotated[
        float | None,
        option("--continue P", "The probability of another round, instead of a number of rounds."),
    ] = None
    discount: Annotated[float, option("D", "Round r (from 0) counts D to the power of r.")] = 1.0
    noise: Annotated[float, option("P", "The probability that a move is replaced.")] = 0.0

    def setting(self, game: str) -> "Setting":
        """Return the setting of this game with these options. Raises `UsageError` for a wrong option or game."""
        from tournament.game import Setting
        from tournament.library import load_game

        return Setting(load_game(game, self.parameters), self.repetition)

    @property
    def parameters(self) -> dict[str, str]:
        """The texts of the game's parameters by name, from `--set`. Raises `UsageError` for one without `=`."""
        pairs = [text.partition("=") for text in self.set_ or ()]
        for name, equals, _ in pairs:
            if not equals:
                raise UsageError(f"--set {name!r} has no value: write --set NAME=VALUE")
        return {name.strip(): value.strip() for name, _, value in pairs}

    @property
    def repetition(self) -> "Repetition":
        """How a match repeats the game; without options, it has one round. Raises `UsageError` for wrong values."""
        from tournament.game import Repetition

        one_shot = self.rounds is None and self.continuation is None
        rounds = 1 if one_shot else self.rounds
        return Repetition(rounds, self.continuation, self.discount, self.noise)


@dataclass(frozen=True)
class EvolutionOptions:
    """How programs evolve: the options shared by the commands that evolve programs.

    An option that is None takes its value from the environment, see `Settings`.
    """

    oracle: Annotated[
        list[str] | None,
        option(
            "SPEC[,...]",
            "Who writes programs, for all seats or for each: search, chat:MODEL, manual:FOLDER or replay:FILE. "
            "Repeat the option to evolve more chains with other oracles.",
        ),
    ] = None
    outer: Annotated[int, option("-K N", "How often to go through all seats.", min=1)] = 5
    inner: Annotated[int, option("-T N", "How many steps to make for each seat.", min=1)] = 3
    episodes: Annotated[int, option("N", "How many matches measure a profile.", min=1)] = 10
    objective: Annotated[str, option("WHAT", "What to increase: welfare, own or both.")] = "welfare"
    order: Annotated[str, option("HOW", "The order of seats: turn or simultaneous.")] = "turn"
    short_prompts: Annotated[
        bool, typer.Option("--short-prompts", help="Ask with short prompts.")
    ] = False
    model: Annotated[str | None, option("NAME", "The model that the oracle `chat` asks.")] = None
    base_url: Annotated[str | None, option("URL", "The address of the models' server.")] = None
    temperature: Annotated[float | None, option("T", "The temperature for sampling.")] = None
    max_tokens: Annotated[int | None, option("N", "The most tokens in an answer.")] = None
    budget_money: Annotated[str | None, option("USD", "The most dollars to spend on models.")] = (
        None
    )
    budget_tokens: Annotated[int | None, option("N", "The most tokens to use.")] = None
    budget_calls: Annotated[int | None, option("N", "The most calls to make.")] = None
    price_in: Annotated[str | None, option("USD", "The price of a million prompt tokens.")] = None
    price_out: Annotated[str | None, option("USD", "The price of a million answer tokens.")] = None
    concurrency: Annotated[int | None, option("N", "The most calls at the same time.")] = None
    requests_per_minute: Annotated[int | None, option("N", "The most requests in a minute.")] = None
    tokens_per_minute: Annotated[int | None, option("N", "The most tokens in a minute.")] = None
    time_limit: Annotated[float | None, option("S", "The most seconds for a request.")] = None
    retries: Annotated[int | None, option("N", "How often to repeat a call that failed.")] = None
    prompts: Annotated[
        Path | None, option("DIR", "A folder with prompt templates of your own.")
    ] = None


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with each dataclass parameter replaced by one option for each field of the dataclass.

    When the command is called, its dataclass arguments are built from the options.
    """
    own = inspect.signature(command).parameters
    groups: dict[str, Any] = {
        name: each.annotation for name, each in own.items() if is_dataclass(each.annotation)
    }
    parameters: list[inspect.Parameter] = []
    for name, each in own.items():
        group = groups.get(name)
        parameters += inspect.signature(group).parameters.values() if group else [each]
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def limits_of(fuel: int) -> "Limits":
    """Return the limits of a bot with this fuel for one call. Raises `UsageError` if it is out of range."""
    from tournament.sandbox.limits import LEAST_FUEL, MOST_FUEL, Limits

    if not LEAST_FUEL <= fuel <= MOST_FUEL:
        raise UsageError(f"--fuel is {fuel:,}, but must be from {LEAST_FUEL:,} to {MOST_FUEL:,}")
    return Limits(fuel=fuel)
