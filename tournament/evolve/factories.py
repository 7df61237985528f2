"""Creates oracles from their names on the command line: `search`, or a model, as `chat:`, `manual:` or `replay:`."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import CancelScope

from tournament.errors import UsageError
from tournament.evolve.evaluate import Evaluator
from tournament.evolve.pibr import EvolutionPlan
from tournament.evolve.response import Oracle
from tournament.evolve.search import Search
from tournament.evolve.textual import Textual
from tournament.game import Setting
from tournament.library import describe_game, find_bots, games, packaged_bots
from tournament.oracles.ledger import from_line
from tournament.oracles.oracle import Oracle as Model
from tournament.oracles.prompts import Prompts
from tournament.oracles.replay import Replay
from tournament.oracles.settings import Settings
from tournament.oracles.spec import Services, make_oracle, make_services, parse


def check_oracles(
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
    specs: Iterable[str],
    evaluator: Evaluator,
    plan: EvolutionPlan,
    services: Services,
    read_calls: Callable[[Path], Iterable[str]],
) -> AsyncIterator[dict[str, Oracle]]:
    """Open the named oracles and yield them by name. Raises `UsageError` and `NotFound`.

    `read_calls` returns the calls in a record, one line of text each. The models are closed when the block is left.
    """
    prompts = Prompts(services.settings.prompts)
    game = evaluator.setting.game.name
    about = describe_game(game) if game in games() else ""
    models: list[Model] = []
    oracles: dict[str, Oracle] = {}
    try:
        for text in dict.fromkeys(specs):
            spec = parse(text)
            if spec.kind == "search":
                library = find_bots([packaged_bots()]).programs
                oracles[text] = Search(library, evaluator, plan.episodes)
                continue
            if spec.kind == "replay":
                lines = read_calls(Path(spec.argument))
                models.append(Replay(map(from_line, lines), services.journal))
            else:
                models.append(make_oracle(text, services))
            oracles[text] = Textual(models[-1], prompts, evaluator, about, plan.short_prompts)
        yield oracles
    finally:
        with CancelScope(shield=True):
            for model in models:
                await model.aclose()
