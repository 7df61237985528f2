"""Fixtures: evaluators in a real sandbox, oracles with scripted answers, a server of models, and the command."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.oracles.server import Does, Script, Server, completion, serve
from tournament.cli import main
from tournament.engine.run import workers
from tournament.evolve.evaluate import Evaluator
from tournament.evolve.pibr import Chain, EvolutionPlan, Step
from tournament.evolve.response import Oracle, Response, Task
from tournament.game import Repetition, Setting
from tournament.library import load_game
from tournament.program import Program
from tournament.sandbox.image import Image
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool

T = TypeVar("T")
LITTLE = Limits(fuel=100_000_000)


def setting_of(game: str, rounds: int = 1, **parameters: str) -> Setting:
    return Setting(load_game(game, parameters), Repetition(rounds))


def always(move: str) -> str:
    return f"def act(view):\n    return {move!r}\n"


def program(source: str) -> Program:
    return Program("bot", source)


@pytest.fixture(scope="session")
def pool(image: Image) -> Iterator[tuple[BlockingPortal, Pool]]:
    """Workers that all tests share, and the portal of the event loop in which they run."""
    games = [load_game("level_based_foraging"), load_game("coin_game")]
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(workers(image, 2, LITTLE, games)) as started,
    ):
        yield portal, started


Evaluate = Callable[..., Any]


@pytest.fixture
def evaluate(pool: tuple[BlockingPortal, Pool]) -> Evaluate:
    """A function that makes an evaluator for a setting and calls another function with it."""
    portal, workers = pool

    def run(setting: Setting, work: Callable[[Evaluator], Awaitable[T]], *, seed: int = 0) -> T:
        return portal.call(work, Evaluator(workers, setting, seed, LITTLE))

    return run


class ScriptedOracle:
    """An oracle that answers with the given sources in turn, and then always with the last.

    None stands for an answer without a program.
    """

    def __init__(self, *sources: str | None) -> None:
        self.sources = list(sources)
        self.tasks: list[Task] = []

    async def respond(self, task: Task) -> Response:
        """Return the next scripted answer."""
        source = self.sources[min(len(self.tasks), len(self.sources) - 1)]
        self.tasks.append(task)
        return Response(None, "no_code") if source is None else Response(program(source))


RunChain = Callable[..., tuple[Chain, list[Step]]]


@pytest.fixture
def run_chain(evaluate: Evaluate) -> RunChain:
    """A function that runs a chain to its end and returns it with its steps."""

    def run(
        setting: Setting, oracles: Sequence[Oracle], plan: EvolutionPlan, start: Sequence[str] = ()
    ) -> tuple[Chain, list[Step]]:
        async def work(evaluator: Evaluator) -> tuple[Chain, list[Step]]:
            each = tuple(oracles) * (setting.game.seats if len(oracles) == 1 else 1)
            profile = tuple(map(program, start)) or None
            chain = Chain("chain", plan, each, evaluator, profile)
            return chain, [step async for step in chain.run()]

        return evaluate(setting, work)

    return run


Serve = Callable[[Script | Does], AbstractContextManager[Server]]


@pytest.fixture
def server(pool: tuple[BlockingPortal, Pool]) -> Serve:
    """A function that starts a server of models for the duration of a `with` block."""
    portal, _ = pool
    return lambda script: portal.wrap_async_context_manager(serve(script))


def reply_with(text: str, **more: Any) -> Does:
    """Return a server's reply with this text."""
    return Does(completion(text, **more))


def code(source: str) -> str:
    return f"```python\n{source}```\n"


def prompt_of(body: dict[str, Any]) -> str:
    return "\n".join(message["content"] for message in body["messages"])


def asks_for_critique(body: dict[str, Any]) -> bool:
    return "under review" in prompt_of(body)


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON that the command printed."""
        return json.loads(self.out)


Command = Callable[..., Done]


@pytest.fixture
def command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    image: Image,
) -> Command:
    """The command, run in this process, in an empty folder and without settings of models in the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TOURNAMENT_MODEL", "TOURNAMENT_ORACLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words: object, code: int | None = 0) -> Done:
        monkeypatch.setattr(sys, "argv", ["tournament", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
            sys.exit(0)
        out, err = capsys.readouterr()
        done = Done(int(ended.value.code or 0), out, err)
        assert code is None or done.code == code, (done.code, out, err)
        assert "Traceback" not in err, err
        return done

    return run
