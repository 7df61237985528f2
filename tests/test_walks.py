"""The walks in CONTRIBUTING.md are the calls that are really made, in that order."""

import inspect
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import pytest

from tests.batches import batch_of, played_and_audited
from tournament.engine.batch import Batch
from tournament.engine.run import workers
from tournament.engine.worker import serve
from tournament.evolve.evaluate import Evaluator
from tournament.evolve.pibr import Chain, EvolutionPlan
from tournament.evolve.search import Search
from tournament.game import Setting
from tournament.library import load_game, packaged_sources
from tournament.sandbox import image as images
from tournament.sandbox.frames import write_frame
from tournament.sandbox.instance import Image

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")
DILEMMA = Setting(load_game("prisoners_dilemma"))


def walk(title: str) -> list[str]:
    """The functions that a section of CONTRIBUTING lists, as `module.function`."""
    section = TEXT.partition(f"### {title}\n")[2].partition("\n#")[0]
    return re.findall(r"^- `([\w.]+)`", section, re.MULTILINE)


WALKS = {
    title: walk(title) for title in ("One move of one match", "One proof", "One step of evolution")
}


def name_of(frame: FrameType) -> str:
    """A frame's function, as the walks name it."""
    module = str(frame.f_globals.get("__name__", "")).removeprefix("tournament.")
    return f"{module}.{frame.f_code.co_qualname}"


def stack_of(frame: FrameType | None) -> Iterator[str]:
    """The functions of ours that a frame was called through, itself first; comprehensions do not count."""
    while frame is not None:
        ours = str(frame.f_globals.get("__name__", "")).startswith("tournament.")
        if ours and "<" not in frame.f_code.co_qualname:
            yield name_of(frame)
        frame = frame.f_back


@contextmanager
def stacks_at(last: str) -> Iterator[list[list[str]]]:
    """The stacks, outermost function first, at every call of the function named."""
    found: list[list[str]] = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and name_of(frame) == last:
            found.append([*stack_of(frame)][::-1])

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


def within(path: list[str], stack: list[str]) -> bool:
    """Whether a stack has the path in it, with nothing of ours between its functions."""
    spans = range(len(stack) - len(path) + 1)
    return any(stack[start : start + len(path)] == path for start in spans)


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_names_functions_that_exist_and_each_but_once(title: str) -> None:
    assert len(WALKS[title]) == len(set(WALKS[title])) > 5
    for name in WALKS[title]:
        module, *attributes = re.split(r"\.(?=[A-Z_])|(?<=\w)\.(?=\w+$)", name)
        thing: Any = sys.modules[f"tournament.{module}"]
        for attribute in ".".join(attributes).split("."):
            thing = getattr(thing, attribute)
        assert inspect.isfunction(thing)


def test_a_move_passes_the_functions_of_its_walk(sandbox: Image, image: images.Image) -> None:
    path = WALKS["One move of one match"]
    parent, worker = path[:2], path[2:]
    library = packaged_sources()
    batch = batch_of((library["tit_for_tat"], library["always_defect"]), setting=DILEMMA)
    with stacks_at(parent[-1]) as stacks:
        anyio.run(called, image, batch)
    assert any(stack[-2:] == parent for stack in stacks)
    with stacks_at(worker[-1]) as stacks:
        served(sandbox, batch)
    assert worker in stacks
    assert len([*path, "act"]) <= 8


async def called(image: images.Image, batch: Batch) -> None:
    """Send a batch to a worker process, as the scheduler does."""
    async with workers(image, 1, batch.limits) as pool:
        await pool.call(batch.encoded(), len)


def served(sandbox: Image, batch: Batch) -> None:
    """Answer a request in this process, as a worker does."""
    here, there = socket.socketpair()
    with here, there:
        write_frame(here.fileno(), batch.encoded())
        here.shutdown(socket.SHUT_WR)
        serve(sandbox, {}, there.fileno())
        sandbox.tick = lambda: None


def test_a_proof_passes_the_functions_of_its_walk(sandbox: Image) -> None:
    path = WALKS["One proof"]
    library = packaged_sources()
    batch = batch_of((library["fair_bot"], library["always_defect"]), setting=DILEMMA)
    with stacks_at(path[-1]) as stacks:
        played_and_audited(sandbox, batch)
    assert any(within(path, stack) for stack in stacks)
    assert len(path) <= 10


def test_a_step_of_evolution_passes_the_functions_of_its_walk(image: images.Image) -> None:
    path = WALKS["One step of evolution"]

    async def evolve() -> None:
        async with workers(image, 1, batch_of(("", "")).limits) as pool:
            evaluator = Evaluator(pool, DILEMMA, 0, batch_of(("", "")).limits)
            oracle = Search((), evaluator, episodes=1)
            chain = Chain(
                "chain", EvolutionPlan(rounds=1, steps=1, episodes=1), (oracle,) * 2, evaluator
            )
            async for _ in chain.run():
                pass

    with stacks_at(path[-1]) as stacks:
        anyio.run(evolve)
    assert any(within(path, stack) for stack in stacks)
