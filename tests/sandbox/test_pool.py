"""Workers that die, hang or lie are replaced, and nothing of them is left."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.batches import LITTLE, THREE_ROUNDS, batch_of
from tournament.engine.batch import Batch, Played
from tournament.engine.run import Contest, planned, play_all, workers
from tournament.engine.worker import MODULE
from tournament.errors import WorkerLost
from tournament.game import Repetition, Setting
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.sandbox.forkserver import LAST_SECONDS
from tournament.sandbox.image import Image
from tournament.sandbox.lockdown import LAYERS
from tournament.sandbox.pool import Pool, open_pool

LIAR = "tests.sandbox.lying_worker"
LONG = Setting(THREE_ROUNDS.game, Repetition(rounds=100))
BUSY = "def act(view):\n    for _ in range(60_000): pass\n    return 'CD'[len(view.mine) % 2]\n"
TIT_FOR_TAT = "def act(view): return view.theirs[-1] if view.theirs else 'C'\n"


@pytest.fixture(autouse=True)
def liars_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers do not look for modules where they are started."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))


def children() -> set[str]:
    """This process's children, dead ones that nobody has waited for included."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # a thread that has ended since
            found |= set((task / "children").read_text().split())
    return found


@pytest.fixture(autouse=True)
def nobody_is_left() -> Iterator[None]:
    """No child process that was not there before, nor a dead one that nobody has waited for."""
    before = children()
    yield
    assert children() <= before


def with_liar(how: str, do: Callable[[Pool], Awaitable[Any]], silence: float = 30.0) -> Any:
    """What comes of doing something with a pool of one lying worker."""

    async def main() -> Any:
        async with open_pool(LIAR, [how], 1, silence) as pool:
            return await do(pool)

    return anyio.run(main)


def unwrapped(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        [error] = error.exceptions
    return error


async def ask(pool: Pool) -> Any:
    return await pool.call(b"x", json.loads)


# Lies


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("no start", "did not start (exit 1 exit of no start)"),
        ("no hello", "did not start (exit 1 exit of no hello)"),
        ("hello cut short", "did not start (exit 1 exit of hello cut short)"),
        ("hello in garbage", "did not introduce itself (a frame of 4294967295 bytes)"),
        ("hello that is huge", "did not introduce itself (a frame of 2147483648 bytes)"),
        ("hello that is no JSON", "did not introduce itself"),
        ("hello without layers", "did not introduce itself"),
        ("hello of another form", "did not introduce itself"),
        ("hello that is too deep", "did not introduce itself"),
    ],
)
def test_a_worker_that_does_not_introduce_itself_is_lost(how: str, words: str) -> None:
    with pytest.raises((WorkerLost, BaseExceptionGroup)) as caught:
        with_liar(how, ask)
    lost = unwrapped(caught.value)
    assert isinstance(lost, WorkerLost)
    assert words in str(lost)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("die", "a worker process died (exit 1 its last words)"),
        ("raise", "a worker process died (exit 1 RuntimeError: its last line)"),
        ("cut short", "a worker process died (exit 0)"),
        ("huge", "a worker process broke off (a frame of 2147483648 bytes)"),
        ("garbage", "a worker process broke off (a frame of 4294967295 bytes)"),
        ("depth", "a worker process answered nonsense"),
        ("silence", "a worker was silent for 1 seconds"),
    ],
)
def test_a_worker_that_does_not_answer_is_lost_and_replaced(how: str, words: str) -> None:
    async def do(pool: Pool) -> tuple[str, int, int]:
        first = pool._idle[0].pid
        with pytest.raises(WorkerLost) as caught:
            await ask(pool)
        assert not pool._idle
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        with pytest.raises(WorkerLost) as again:
            await ask(pool)
        return str(caught.value), str(again.value)

    said = with_liar(how, do, silence=1.0)
    assert all(words in each for each in said)


def test_a_worker_whose_answer_is_nonsense_is_not_asked_again() -> None:
    async def do(pool: Pool) -> None:
        first = pool._idle[0].pid
        batch = batch_of([BUSY, BUSY])
        with pytest.raises(WorkerLost, match="answered nonsense"):
            await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)

    with_liar("nonsense", do)


def test_signs_of_life_are_no_answers_and_last_words_do_not_stop_a_worker() -> None:
    assert with_liar("echo", ask) == 1
    assert with_liar("chatter", ask) == 1


def test_a_worker_has_no_file_but_its_channel_and_what_it_writes_its_last_words_to() -> None:
    async def do(pool: Pool) -> set[int]:
        """The descriptors of the last of three workers; one more is the folder that it lists."""
        await pool._add()
        await pool._add()
        return {*map(int, await ask(pool))}

    standard = {1, 2}
    assert len(with_liar("files", do) - standard) == 2


def test_workers_are_forked_from_one_process_that_is_not_the_engine_s(image: Image) -> None:
    async def main() -> set[str]:
        async with workers(image, 3, LITTLE) as pool:
            return {parent_of(worker.pid) for worker in pool._idle}

    [parent] = anyio.run(main)
    assert parent != str(os.getpid())


def parent_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().split()[3]


def test_garbage_is_collected_but_not_among_what_workers_have_in_common() -> None:
    collected_while_loaded, collected, set_aside = with_liar("garbage collection", ask)
    assert (collected_while_loaded, collected, set_aside) == (False, True, True)


def test_the_process_that_forks_ends_at_once_whatever_python_has_to_tidy_up() -> None:
    async def do(pool: Pool) -> float:
        return time.monotonic()

    begun = with_liar("no end", do)
    assert time.monotonic() - begun < LAST_SECONDS


def test_a_worker_inherits_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("HOME", "/home/secret")
    monkeypatch.setenv("LANG", "C.UTF-8")
    environment = with_liar("environment", ask)
    assert "secret" not in str(environment)
    assert environment["LANG"] == "C.UTF-8"
    assert environment.keys() <= {
        "PATH", "PYTHONPATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "TMPDIR",
    }  # fmt: skip


def environment_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:  # it is not to be looked into at all
        return b""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_locked_worker_has_no_secret_in_its_memory_of_the_environment(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    async def main() -> bytes:
        async with workers(image, 1, LITTLE) as pool:
            return environment_of(pool._idle[0].pid)

    assert b"OPENAI_API_KEY" not in anyio.run(main)


# What holds


def test_layers_are_reported_one_by_one(image: Image) -> None:
    async def main() -> list[dict[str, str]]:
        async with workers(image, 2, LITTLE) as pool:
            return [pool.layers, *(worker.layers for worker in pool._idle)]

    first, *others = anyio.run(main)
    assert tuple(first) == LAYERS
    assert all(others == first for others in others)
    assert all(first.values())
    if sys.platform == "linux":
        assert not first["rlimits"].startswith("none")
        assert first["pdeathsig"] == "SIGKILL"


def played_out(
    image: Image, during: Callable[[Pool], Awaitable[None]], **more: Any
) -> list[Outcome]:
    """The outcomes of a contest, during which something happens to its workers."""
    programs = {p.digest: p for p in (Program("busy", BUSY), Program("tit", TIT_FOR_TAT))}
    contest = Contest(LONG, 1, programs)
    lineups = [(one, other) for one in programs for other in programs]
    fixtures = [Fixture(lineup, 0) for lineup in lineups]

    async def main() -> list[Outcome]:
        send, receive = anyio.create_memory_object_stream[Any](10)
        async with (
            open_pool(MODULE, [str(image.compiled)], 1, **more) as pool,
            anyio.create_task_group() as group,
            receive,
        ):
            plan = planned(contest, fixtures, pool.count)
            group.start_soon(play_all, contest, plan, pool, send)
            group.start_soon(during, pool)
            results = [results async for results in receive]
        assert not any(each.lost for each in results)
        return sorted((o for each in results for o in each.outcomes), key=lambda o: o.fixture)

    return anyio.run(main)


async def nothing(pool: Pool) -> None:
    """Leave the workers alone."""


def send(number: signal.Signals, pids: list[int]) -> Callable[[Pool], Awaitable[None]]:
    async def do(pool: Pool) -> None:
        pid = pool._idle[0].pid
        pids.append(pid)
        with anyio.move_on_after(10):
            while pool._idle:  # noqa: ASYNC110 - a pool does not say when it is asked
                await anyio.sleep(0.001)
        await anyio.sleep(0.1)
        assert not pool._idle
        os.kill(pid, number)

    return do


@pytest.fixture(scope="module")
def undisturbed(image: Image) -> list[Outcome]:
    """What comes of the contest when nothing happens."""
    return played_out(image, nothing)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_worker_that_is_killed_in_a_batch_is_replaced_and_the_outcome_is_the_same(
    image: Image, undisturbed: list[Outcome], number: signal.Signals
) -> None:
    pids: list[int] = []
    assert played_out(image, send(number, pids)) == undisturbed
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_a_worker_that_hangs_is_stopped_by_the_clock_and_the_outcome_is_the_same(
    image: Image, undisturbed: list[Outcome]
) -> None:
    pids: list[int] = []
    start = time.monotonic()
    assert played_out(image, send(signal.SIGSTOP, pids), silence=3.0) == undisturbed
    assert time.monotonic() - start > 3.0
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_when_the_process_that_forks_is_killed_another_takes_its_place(
    image: Image, undisturbed: list[Outcome]
) -> None:
    pids: list[int] = []

    async def do(pool: Pool) -> None:
        assert pool._server is not None
        pids.extend([pool._server._process.pid, pool._idle[0].pid])
        with anyio.move_on_after(10):
            while pool._idle:  # noqa: ASYNC110 - a pool does not say when it is asked
                await anyio.sleep(0.001)
        await anyio.sleep(0.1)
        os.kill(pids[0], signal.SIGKILL)

    assert played_out(image, do) == undisturbed
    assert all(map(ends_soon, pids))


def test_workers_that_went_with_the_process_that_forked_them_are_not_asked_any_more() -> None:
    async def do(pool: Pool) -> None:
        await pool._add()
        await pool._add()
        assert pool._server is not None
        os.kill(pool._server._process.pid, signal.SIGKILL)
        assert all(ends_soon(worker.pid) for worker in pool._idle)
        with pytest.raises(WorkerLost, match="a worker process died"):
            await ask(pool)
        assert await ask(pool) == 1

    with_liar("echo", do)


def test_an_error_names_the_request_that_was_not_answered() -> None:
    async def do(pool: Pool) -> None:
        assert pool._server is not None
        os.kill(pool._server._process.pid, signal.SIGKILL)
        with pytest.raises(WorkerLost, match="a worker process did not end"):
            await pool._server.end(pool._idle[0].pid)

    with_liar("echo", do)


def ends_soon(pid: int) -> bool:
    """Whether a process ends in ten seconds: nobody of ours waits for it, so that it may be left as dead."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z":
                time.sleep(0.05)
                continue
        return True
    return False


def test_leaving_the_pool_in_the_middle_of_a_batch_leaves_nobody(image: Image) -> None:
    async def main() -> int:
        async with workers(image, 1, LITTLE) as pool:
            pid = pool._idle[0].pid
            batch = batch_of(*[[BUSY, BUSY]] * 50, setting=LONG)
            with anyio.move_on_after(0.2):
                await pool.call(batch.encoded(), partial(Played.decoded, batch=batch))
            return pid

    with pytest.raises(ProcessLookupError):
        os.kill(anyio.run(main), 0)


def test_a_worker_that_a_worker_s_parent_leaves_behind_does_not_live_on(image: Image) -> None:
    """The engine may be killed without a word: its workers go with it."""
    if sys.platform != "linux":
        pytest.skip("where there is no death signal, a worker ends when its channel does")
    script = f"""
import anyio, os, signal
from tournament.engine.run import workers
from tournament.sandbox.forkserver import LAST_SECONDS
from tournament.sandbox.image import Image
from tournament.sandbox.limits import Limits
from pathlib import Path

async def main():
    async with workers(Image(Path({str(image.compiled)!r}), ""), 2, Limits()) as pool:
        print(*(worker.pid for worker in pool._idle), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main)
"""

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    assert all(map(ends_soon, pids))


# Answers of a worker that has been taken over


PLAYED = '[["000", "111"], null, {}, [5, 6], {}, {"0": 4}, [], []]'


def decoded(text: str, batch: Batch | None = None) -> Played:
    batch = batch or batch_of([BUSY, TIT_FOR_TAT])
    return Played.decoded(text.encode(), batch=batch)


def test_an_honest_answer_is_read_as_it_was_written() -> None:
    batch = batch_of([BUSY, TIT_FOR_TAT], [TIT_FOR_TAT, BUSY])
    fault = ["illegal", 1, "said 'x'", "trace ♥", "printed"]
    text = json.dumps(
        [["0", "1", "000", "111"], None, {"1": [1, fault[0], *fault[1:]]}, [1, 2, 3, 4],
         {"2": [1, "a note"]}, {"0": 4}, [1], [1]]
    )  # fmt: skip
    played = decoded(text, batch)
    assert json.loads(played.encoded()) == json.loads(text)
    assert played.faults[1].kind == "illegal"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PLAYED, ""),
        (PLAYED, "{}"),
        (PLAYED, "[]"),
        (PLAYED, "null"),
        (PLAYED, "[" * 100_000),
        ("[5, 6], ", ""),
        ("[]]", "[], []]"),
        ('"000"', '"00"'),
        ('"000"', '"0000"'),
        ('"000"', '"002"'),
        ('"000"', '"00 "'),
        ('"000"', '"00!"'),
        ('"000"', "[0, 0, 0]"),
        ('"000"', "0"),
        ('"000", "111"', '"000"'),
        ('"000", "111"', '"", ""'),
        ('"000", "111"', '"000", "111", "000"'),
        ('["000", "111"]', '"01"'),
        ("null", '["000", "111"]'),
        ("null", "0"),
        ("[5, 6]", "[5]"),
        ("[5, 6]", "[5, -6]"),
        ("[5, 6]", "[5, 6.0]"),
        ("[5, 6]", "[5, true]"),
        ("[5, 6]", "[5, 1e400]"),
        ("[5, 6]", f"[5, {1 << 62}]"),
        ("[5, 6]", '[5, "6"]'),
        ("[5, 6]", "5"),
        ("{}, [5", '{"0": [0, "error", 3, "", "", ""]}, [5'),
        ("{}, [5", '{"0": [0, "error", 2, "", "", ""]}, [5'),
        ("{}, [5", "[], [5"),
        ("{}, [5", '{"x": []}, [5'),
        ("{}, {", '{"2": [0, "note"]}, {'),
        ("{}, {", '{"0": ["note"]}, {'),
        ("{}, {", '{"0": [0, 5]}, {'),
        ('"0": 4', '"2": 4'),
        ('"0": 4', '"-1": 4'),
        ('"0": 4', '"x": 4'),
        ('"0": 4', '"0": 8'),
        ('"0": 4', '"0": -1'),
        ('"0": 4', '"0": 4.0'),
        ('"0": 4', '"0": "4"'),
        ("[], []]", "[], [2]]"),
        ("[], []]", "[9], []]"),
        ("[], []]", "[], 5]"),
    ],
)
def test_an_answer_that_no_play_comes_to_is_refused(old: str, new: str) -> None:
    assert PLAYED.count(old) == 1
    with pytest.raises((ValueError, TypeError, LookupError, AttributeError, RecursionError)):
        decoded(PLAYED.replace(old, new))


@pytest.mark.parametrize(
    "fault",
    [
        [1, "error", 1, "", "", ""],
        [0, "sabotage", 1, "", "", ""],
        [0, "error", 0, "", "", ""],
        [0, "error", -1, "", "", ""],
        [0, "error", 1.0, "", "", ""],
        [False, "error", 1, "", "", ""],
        [0, "error", 1, 5, "", ""],
        [0, "error", 1, "\ud800", "", ""],
        [0, "error", 1, "x" * 40_000, "", ""],
        [0, "error", 1, "", None, ""],
        [0, "error", 1, "", "", "", ""],
        [0, "error"],
        "error",
    ],
)
def test_a_fault_that_no_bot_makes_is_refused(fault: object) -> None:
    honest = [["0", "1"], None, {"0": [0, "error", 1, "", "", ""]}, [5, 6], {}, {}, [], []]
    decoded(json.dumps(honest))
    honest[2] = {"0": fault}
    with pytest.raises((ValueError, TypeError, AttributeError)):
        decoded(json.dumps(honest))
