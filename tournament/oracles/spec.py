"""The names of oracles on the command line, and the functions that make an oracle from its name.

    chat:openai/o4-mini                    a model of OpenAI, or of the server that OPENAI_BASE_URL names
    chat:NAME                              a model of the server that --base-url names
    chat:NAME@http://127.0.0.1:8080/v1     a model of the server at this address
    chat                                   the model in the settings
    manual:FOLDER                          a person: prompts are written to files, answers are read from files
    replay:FILE                            the answers in a record
    search                                 a search that needs no model

The modules of a kind are imported when an oracle of that kind is made. A higher layer makes the oracles of the kinds
`search` and `replay`, since these play games or read a record. It calls `parse` first to find the kind.
"""

from dataclasses import dataclass
from pathlib import Path

from tournament.errors import NotFound, UsageError
from tournament.oracles.ledger import Journal, Ledger
from tournament.oracles.limits import MOST, NOTHING, START, Budget, Gate, Limits, Spending, Window
from tournament.oracles.manual import Manual
from tournament.oracles.oracle import Notify, Oracle, silent
from tournament.oracles.settings import OPENAI, Settings, checked_address

KINDS = ("chat", "manual", "replay", "search")
WANTED = {"manual": "FOLDER", "replay": "FILE"}
"""The kinds that need an argument after the colon, with the word for it in messages."""


@dataclass(frozen=True)
class Spec:
    """A parsed name of an oracle: its kind, and the text after the colon."""

    kind: str
    argument: str = ""


@dataclass(frozen=True)
class Services:
    """The settings and services from which oracles are made. All oracles of a run share one `Services`.

    Without a journal, no answer is kept.
    """

    settings: Settings
    limits: Limits
    journal: Journal | None = None
    notify: Notify = silent


def parse(text: str) -> Spec:
    """Return the kind and the argument of the oracle that a text names.

    Raises `NotFound` for an unknown kind, and `UsageError` for an argument that is missing or must not be there.
    """
    kind, _, argument = text.strip().partition(":")
    if kind not in KINDS:
        raise NotFound("oracle", kind, list(KINDS))
    if kind in WANTED and not argument:
        raise UsageError(f"{kind} needs a {WANTED[kind].lower()}: {kind}:{WANTED[kind]}")
    if kind == "search" and argument:
        raise UsageError(f"search takes nothing after a colon, not {argument!r}")
    return Spec(kind, argument)


def default_spec(settings: Settings) -> str:
    """Return the oracles to ask if none is named.

    These are the oracles in the settings, or else the model in the settings if a key or address is set, or else the
    search.
    """
    if settings.oracle:
        return settings.oracle
    return "chat" if settings.model and (settings.api_key or settings.base_url) else "search"


def split(text: str) -> list[str]:
    """Return the names of oracles in a text that separates them by commas."""
    return [spec.strip() for spec in text.split(",")]


def models_set(settings: Settings) -> list[str]:
    """Return the models to ask if none is named, without duplicates. Raises `UsageError` if there are none."""
    specs = [spec for spec in split(default_spec(settings)) if parse(spec).kind == "chat"]
    if not specs:
        raise UsageError("no model is set: name one, chat:openai/NAME, or set TOURNAMENT_MODEL")
    return list(dict.fromkeys(specs))


def make_limits(settings: Settings, used: Spending = NOTHING) -> Limits:
    """Return the limits in the settings. `used` is what the run has already used of its budget."""
    most = settings.concurrency or MOST
    return Limits(
        gate=Gate(settings.concurrency or START, most),
        requests=Window(settings.requests_per_minute),
        tokens=Window(settings.tokens_per_minute),
        budget=Budget(settings.budget_calls, settings.budget_tokens, settings.budget_money, used),
    )


def make_services(
    settings: Settings, journal: Journal | None = None, notify: Notify = silent
) -> Services:
    """Return the settings and services for a run that has used nothing of its budget yet."""
    return Services(settings, make_limits(settings), journal, notify)


def make_oracle(text: str, services: Services) -> Oracle:
    """Return the oracle that a text names, in a ledger that keeps its answers in the journal of `services`.

    Raises `NotFound` for an unknown kind, and `UsageError` for a wrong argument or a kind that asks no model.
    """
    spec = parse(text)
    if spec.kind == "manual":
        return Ledger(Manual(Path(spec.argument), services.notify), services.journal)
    if spec.kind != "chat":
        raise UsageError(f"{spec.kind} asks no model: name chat:MODEL or manual:FOLDER")
    from tournament.oracles.chat import Chat

    model, base_url = chat_model(spec.argument, services.settings)
    chat = Chat(model, base_url, services.settings, services.limits, services.notify)
    return Ledger(chat, services.journal)


def chat_model(argument: str, settings: Settings) -> tuple[str, str]:
    """Return the name of a model and the address of its server, from the text after `chat:`.

    Raises `UsageError` if one of them is missing or wrong. The message shows no address, since the address may contain
    a password.
    """
    model, at, address = argument.partition("@http")
    model = model or settings.model or ""
    if not model:
        raise UsageError("no model is named: chat:openai/NAME, or --model")
    if "://" in model:
        raise UsageError("a model is given as chat:NAME@http://..., or chat:NAME with --base-url")
    try:
        base_url = checked_address(f"http{address}") if at else settings.base_url
    except ValueError as error:
        raise UsageError(f"what follows chat:{model}@ {error}") from None
    bare = model.removeprefix("openai/")
    if base_url is None and bare == model:
        raise UsageError(f"which server has {model}? Give --base-url, or write openai/{model}")
    return bare, base_url or OPENAI


def described(text: str, settings: Settings) -> str:
    """Return the full name of an oracle. For a chat model it contains the model and the address of its server.

    Raises what `parse` and `chat_model` raise.
    """
    spec = parse(text)
    if spec.kind != "chat":
        return text.strip()
    model, base_url = chat_model(spec.argument, settings)
    return f"chat:{model}@{base_url}"
