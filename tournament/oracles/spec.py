"""Oracles by name, as they are given on the command line.

    chat:openai/o4-mini                    a model of OpenAI's, or of the server that OPENAI_BASE_URL names
    chat:NAME                              a model of the server that --base-url names
    chat:NAME@http://127.0.0.1:8080/v1     a model of that server
    chat                                   the model that is set
    manual:FOLDER                          prompts to files, answers from files
    replay:FILE                            answers from a record
    search                                 no model at all

What a kind needs is imported when it is asked for. `search`, which plays, and `replay`, which reads a record, belong to
a floor above this one, which looks for the kind with `parse` first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tournament.errors import NotFound, UsageError
from tournament.oracles.ledger import Journal, Ledger, NoJournal
from tournament.oracles.limits import MOST, NOTHING, START, Budget, Gate, Limits, Spending, Window
from tournament.oracles.oracle import Oracle, Say, silent
from tournament.oracles.settings import OPENAI, Settings, checked_address

KINDS = ("chat", "manual", "replay", "search")
WANTED = {"manual": "FOLDER", "replay": "FILE"}
"""What must stand behind the colon."""


@dataclass(frozen=True)
class Spec:
    """A kind of oracle, and which one."""

    kind: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.argument}" if self.argument else self.kind


@dataclass(frozen=True)
class Desk:
    """What an oracle is made with: all oracles of a run share one."""

    settings: Settings
    limits: Limits
    journal: Journal
    say: Say = silent


Maker = Callable[[str, Desk], Oracle]
"""Makes an oracle of a kind from what stands behind the colon."""


def parse(text: str) -> Spec:
    """The oracle that a text names. Raises `NotFound` for another kind, `UsageError` where something is missing."""
    kind, _, argument = text.strip().partition(":")
    if kind not in KINDS:
        raise NotFound("oracle", kind, list(KINDS))
    if kind in WANTED and not argument:
        wanted = WANTED[kind]
        raise UsageError(f"{kind} needs a {wanted.lower()}: {kind}:{wanted}")
    if kind == "search" and argument:
        raise UsageError(f"search takes nothing behind a colon, and got {argument!r}")
    return Spec(kind, argument)


def default_spec(settings: Settings) -> str:
    """What to ask where nothing is said: what is set, else the model that is set, else the search."""
    if settings.oracle:
        return settings.oracle
    return "chat" if settings.model and (settings.api_key or settings.base_url) else "search"


def split(text: str) -> list[str]:
    """The oracles that a text names, separated by commas."""
    return [spec.strip() for spec in text.split(",")]


def models_set(settings: Settings) -> list[str]:
    """The models that are asked where nothing is said, each once. Raises `UsageError` if there is none."""
    specs = [spec for spec in split(default_spec(settings)) if parse(spec).kind == "chat"]
    if not specs:
        raise UsageError("no model is set: name one, chat:openai/NAME, or set TOURNAMENT_MODEL")
    return list(dict.fromkeys(specs))


def make_limits(settings: Settings, spent: Spending = NOTHING) -> Limits:
    """The limits that the settings ask for; `spent` is what was spent before."""
    most = settings.concurrency or MOST
    return Limits(
        gate=Gate(settings.concurrency or START, most),
        requests=Window(settings.requests_per_minute),
        tokens=Window(settings.tokens_per_minute),
        budget=Budget(settings.budget_calls, settings.budget_tokens, settings.budget_money, spent),
    )


def make_desk(
    settings: Settings,
    journal: Journal | None = None,
    say: Say = silent,
    spent: Spending = NOTHING,
) -> Desk:
    """What the oracles of a run share; `spent` is what the run spent in earlier sittings."""
    return Desk(settings, make_limits(settings, spent), journal or NoJournal(), say)


def make_oracle(text: str, desk: Desk) -> Oracle:
    """The oracle that a text names, behind the desk's journal. Raises `NotFound` and `UsageError`."""
    spec = parse(text)
    maker = _MAKERS.get(spec.kind)
    if maker is None:
        raise UsageError(f"{spec.kind} asks no model")
    return Ledger(maker(spec.argument, desk), desk.journal)


def chat_model(argument: str, settings: Settings) -> tuple[str, str]:
    """The name and the server of a model, from what stands behind `chat:`.

    Raises `UsageError`, in words that show no address: there may be a password in it.
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
    """An oracle by all that its answers depend on: of a chat model the name and the server."""
    spec = parse(text)
    if spec.kind != "chat":
        return str(spec)
    model, base_url = chat_model(spec.argument, settings)
    return f"chat:{model}@{base_url}"


def _make_chat(argument: str, desk: Desk) -> Oracle:
    from tournament.oracles.chat import Chat

    model, base_url = chat_model(argument, desk.settings)
    return Chat(model, base_url, desk.settings, desk.limits, desk.say)


def _make_manual(argument: str, desk: Desk) -> Oracle:
    from tournament.oracles.manual import Manual

    return Manual(Path(argument), desk.say)


_MAKERS: dict[str, Maker] = {"chat": _make_chat, "manual": _make_manual}
