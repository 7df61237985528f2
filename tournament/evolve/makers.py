"""Makes oracles from what is said on the command line: `search`, or a model behind `chat:`, `manual:` or `replay:`."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tournament.evolve.evaluate import Evaluator
from tournament.evolve.response import Oracle
from tournament.evolve.search import Search
from tournament.evolve.textual import Textual
from tournament.oracles.ledger import Ledger, from_line
from tournament.oracles.oracle import Oracle as Model
from tournament.oracles.prompts import Prompts
from tournament.oracles.replay import Replay
from tournament.oracles.spec import Desk, make_oracle, parse
from tournament.program import Program

Maker = Callable[[Evaluator], Oracle]
RECORD = ".duckdb"


@asynccontextmanager
async def oracle_makers(
    specs: Sequence[str],
    desk: Desk,
    library: Sequence[Program],
    about: str,
    read_calls: Callable[[Path], Sequence[str]],
    episodes: int,
    terse: bool,
) -> AsyncIterator[list[Maker]]:
    """A maker for each oracle named; models are closed when the block is left. Raises `UsageError` and `NotFound`."""
    models: dict[str, Model] = {}
    prompts = Prompts(desk.settings.prompts)

    def maker(text: str) -> Maker:
        spec = parse(text)
        if spec.kind == "search":
            return lambda evaluator: Search(library, evaluator, episodes)
        if spec.kind == "replay" and spec.argument.endswith(RECORD):
            lines = read_calls(Path(spec.argument))
            models[text] = Ledger(Replay(map(from_line, lines)), desk.journal)
        else:
            models[text] = make_oracle(text, desk)
        return lambda evaluator: Textual(
            str(spec), models[text], prompts, evaluator, about, terse=terse
        )

    try:
        yield [maker(text) for text in specs]
    finally:
        for model in models.values():
            await model.aclose()
