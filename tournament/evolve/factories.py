"""Creates oracles from their names on the command line: `search`, or a model, as `chat:`, `manual:` or `replay:`."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from anyio import CancelScope

from tournament.errors import UsageError
from tournament.evolve.evaluate import Evaluator
from tournament.evolve.journal import RecordJournal, Replayed
from tournament.evolve.response import Oracle
from tournament.evolve.search import Search
from tournament.evolve.textual import Textual
from tournament.game import Setting
from tournament.oracles.ledger import from_line
from tournament.oracles.limits import Limits
from tournament.oracles.oracle import Oracle as Model
from tournament.oracles.oracle import Say
from tournament.oracles.prompts import Prompts
from tournament.oracles.replay import Replay
from tournament.oracles.settings import Settings
from tournament.oracles.spec import Services, make_oracle, make_services, parse
from tournament.program import Program


@dataclass(frozen=True)
class OracleContext:
    """The settings and shared services that oracles are created with.

    `limits` may be shared with other runs. `library` holds the programs that a search may answer with. `about`
    describes the game, `episodes` is the number of matches in a rollout, and `terse` asks for short prompts.
    `read_calls` returns the calls in a record, one line of text each.
    """

    settings: Settings
    journal: RecordJournal
    limits: Limits
    say: Say
    library: Sequence[Program]
    about: str
    episodes: int
    terse: bool
    read_calls: Callable[[Path], Iterable[str]]


def checked(
    specs: Sequence[str],
    settings: Settings,
    setting: Setting,
    check_recording: Callable[[Path], None],
) -> None:
    """Check that the oracles can be created, before anything is played or recorded. Raises `UsageError` if not.

    `check_recording` must raise `UsageError` for a file that has no calls to replay.
    """
    seats = setting.game.seats
    if len(specs) not in (1, seats):
        raise UsageError(f"--oracle takes one oracle, or {seats} separated by commas")
    Prompts(settings.prompts).check(setting)
    for text in specs:
        spec = parse(text)
        if spec.kind in ("chat", "manual"):
            make_oracle(text, make_services(settings))
        if spec.kind == "replay":
            if not Path(spec.argument).is_file():
                raise UsageError(f"{spec.argument}: there is no record to replay")
            check_recording(Path(spec.argument))


def by_seat(
    specs: Sequence[str], oracles: Mapping[str, Oracle], setting: Setting
) -> tuple[Oracle, ...]:
    """Return the oracle of each seat; `specs` names either one oracle for all seats or one for each seat."""
    return tuple(oracles[text] for text in specs) * (setting.game.seats // len(specs))


@asynccontextmanager
async def open_oracles(
    specs: Iterable[str], evaluator: Evaluator, context: OracleContext
) -> AsyncIterator[dict[str, Oracle]]:
    """Open the named oracles and yield them by name. Raises `UsageError` and `NotFound`.

    All models share one set of limits. They are closed when the block is left.
    """
    services = Services(context.settings, context.limits, context.journal, context.say)
    prompts = Prompts(context.settings.prompts)
    models: list[Model] = []
    oracles: dict[str, Oracle] = {}
    try:
        for text in dict.fromkeys(specs):
            if parse(text).kind == "search":
                oracles[text] = Search(context.library, evaluator, context.episodes)
                continue
            models.append(_model(text, services, context))
            oracles[text] = Textual(
                text, models[-1], prompts, evaluator, context.about, terse=context.terse
            )
        yield oracles
    finally:
        with CancelScope(shield=True):
            for model in models:
                await model.aclose()


def _model(text: str, services: Services, context: OracleContext) -> Model:
    """Return the model that the text names; for `replay:FILE`, one that answers from that record."""
    spec = parse(text)
    if spec.kind != "replay":
        return make_oracle(text, services)
    lines = context.read_calls(Path(spec.argument))
    return Replayed(Replay(map(from_line, lines)), context.journal)
