"""Makes oracles from what is said on the command line: `search`, or a model behind `chat:`, `manual:` or `replay:`."""

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
from tournament.oracles.spec import Desk, make_desk, make_oracle, parse
from tournament.program import Program


@dataclass(frozen=True)
class Kit:
    """What oracles are made with: settings, a journal, limits that may be shared, and what they write about.

    `library` are the programs that a search may answer with, `about` a line on the game, `episodes` the matches of a
    rollout; `read_calls` are the lines of the calls in a record.
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
    """See to it that oracles can be made, before anything is played or recorded. Raises `UsageError`.

    `check_recording` raises it for a file that has nothing to replay.
    """
    seats = setting.game.seats
    if len(specs) not in (1, seats):
        raise UsageError(f"--oracle takes one oracle, or {seats} separated by commas")
    Prompts(settings.prompts).check(setting)
    for text in specs:
        spec = parse(text)
        if spec.kind in ("chat", "manual"):
            make_oracle(text, make_desk(settings))
        if spec.kind == "replay":
            if not Path(spec.argument).is_file():
                raise UsageError(f"{spec.argument}: there is no record to replay")
            check_recording(Path(spec.argument))


def by_seat(
    specs: Sequence[str], oracles: Mapping[str, Oracle], setting: Setting
) -> tuple[Oracle, ...]:
    """The oracle of each seat, where one is named for each or one for all."""
    return tuple(oracles[text] for text in specs) * (setting.game.seats // len(specs))


@asynccontextmanager
async def open_oracles(
    specs: Iterable[str], evaluator: Evaluator, kit: Kit
) -> AsyncIterator[dict[str, Oracle]]:
    """The oracles named; models share one set of limits, and are closed when the block is left.

    Raises `UsageError` and `NotFound`.
    """
    desk = Desk(kit.settings, kit.limits, kit.journal, kit.say)
    prompts = Prompts(kit.settings.prompts)
    models: list[Model] = []
    oracles: dict[str, Oracle] = {}
    try:
        for text in dict.fromkeys(specs):
            if parse(text).kind == "search":
                oracles[text] = Search(kit.library, evaluator, kit.episodes)
                continue
            models.append(_model(text, desk, kit))
            oracles[text] = Textual(
                text, models[-1], prompts, evaluator, kit.about, terse=kit.terse
            )
        yield oracles
    finally:
        with CancelScope(shield=True):
            for model in models:
                await model.aclose()


def _model(text: str, desk: Desk, kit: Kit) -> Model:
    spec = parse(text)
    if spec.kind != "replay":
        return make_oracle(text, desk)
    lines = kit.read_calls(Path(spec.argument))
    return Replayed(Replay(map(from_line, lines)), kit.journal)
