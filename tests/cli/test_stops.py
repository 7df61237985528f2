"""A run that is stopped or killed at any moment loses no recorded match, and continues to the same result."""

import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tournament as package
from tournament.store import Record

TEN_AT_A_TIME = (
    "import tournament.engine.schedule as schedule; schedule.MOST_MATCHES = 10;"
    "from tournament.cli import main; main()"
)
"""The command with batches of ten matches, so that there is something to record every few moments."""
SLOWLY = (sys.executable, "-c", TEN_AT_A_TIME)
SLOW = """
def act(view):
    sum(range(15_000))
    return view.rng.choice(view.legal)
"""
RUN = (
    "run",
    "--pop",
    "bots",
    "--rounds",
    10,
    "--reps",
    14,
    "--workers",
    2,
    "--db",
    "record.duckdb",
)
MATCHES = 140


def fill(folder: Path) -> None:
    """Make a folder of bots: three that take some time for each move, and one that plays differently in a batch."""
    (folder / "bots").mkdir()
    for number in range(3):
        (folder / "bots" / f"slow_{number}.py").write_text(f"{SLOW}# {number}\n")
    (folder / "bots" / "leaky.py").write_text(
        "import json\n\ndef act(view):\n    json.calls = getattr(json, 'calls', 0) + 1\n"
        "    return 'CD'[json.calls > 12]\n"
    )


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory, image: Any) -> str:
    """The digest of the same run when it is not stopped, played by one worker."""
    folder = tmp_path_factory.mktemp("undisturbed")
    fill(folder)
    call = (sys.executable, "-m", "tournament", *map(str, RUN), "--workers", "1")
    subprocess.run(call, cwd=folder, capture_output=True, check=True, timeout=120)
    with Record.read(folder / "record.duckdb") as record:
        return record.digest(1)


@pytest.fixture
def slow(tournament: Any) -> Any:
    """The command, in a folder with slow bots."""
    fill(tournament.folder)
    return tournament


def descendants(process: int) -> set[int]:
    """Return the ids of the processes that a process has started, directly or indirectly."""
    children: set[int] = set()
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            children |= set(map(int, (task / "children").read_text().split()))
    return children.union(*map(descendants, children))


def alive(processes: set[int]) -> set[int]:
    def state(process: int) -> str:
        with suppress(OSError):
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return "gone"

    return {process for process in processes if state(process) not in ("gone", "Z")}


def lines_until(child: "subprocess.Popen[str]", pattern: str) -> list[str]:
    """Return the lines that a process prints on stderr, up to the first line that matches the pattern."""
    lines = []
    for line in child.stderr or ():
        lines.append(line)
        if re.search(pattern, line):
            return lines
    raise AssertionError("".join(lines))


def finished(child: "subprocess.Popen[str]") -> tuple[int, str]:
    """Wait for a process that must end within seconds; return its exit code and the rest of its stderr."""
    before = descendants(child.pid)
    _, err = child.communicate(timeout=20)
    deadline = time.monotonic() + 5
    while left := alive(before):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)
    assert "Traceback" not in err, err
    return child.returncode, err


def finish_and_compare(slow: Any, uninterrupted: str) -> None:
    """Continue the run to its end, and compare its digest with that of the uninterrupted run."""
    done = slow(*RUN, command=SLOWLY)
    assert "recorded as run 1" in done.lines[-1]
    assert slow.digest() == uninterrupted
    assert slow.rows("select count(*), count(distinct (lineup, repetition)) from matches") == [
        (MATCHES, MATCHES)
    ]


def recorded_matches(slow: Any) -> int:
    """Return the number of matches on record."""
    [[matches]] = slow.rows("select count(*) from matches")
    return int(matches)


MOMENTS = {
    "at_once": (r"bots, 140 matches", 0.0),
    "while_workers_start": (r"bots, 140 matches", 0.3),
    "with_the_first_matches": (r" of 140 matches", 0.0),
    "in_the_middle": (r" of 140 matches", 0.4),
}


@pytest.mark.parametrize(("pattern", "seconds"), MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_cleanly_and_the_same_command_continues_it(
    slow: Any, uninterrupted: str, number: signal.Signals, pattern: str, seconds: float
) -> None:
    child = slow.start(*RUN, command=SLOWLY)
    lines_until(child, pattern)
    time.sleep(seconds)
    child.send_signal(number)
    code, err = finished(child)
    report = re.search(
        r"stopped after (\d+) of 140 matches: run the same command again to continue\n\Z", err
    )
    if (pattern, seconds) == MOMENTS["at_once"] and not report:
        assert code in (
            128 + number,
            -number,
        )  # the signal came before the run began, so there was nothing to report
        return
    assert (code, bool(report)) == (128 + number, True), err
    assert report and recorded_matches(slow) == int(report[1])
    if pattern == " of 140 matches" and number == signal.SIGTERM:
        finish_and_compare(slow, uninterrupted)


def test_a_second_signal_soon_after_the_first_causes_no_traceback(
    slow: Any, uninterrupted: str
) -> None:
    child = slow.start(*RUN, command=SLOWLY)
    lines_until(child, " of 140 matches")
    child.send_signal(signal.SIGINT)
    time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    code, _ = finished(child)
    assert code == 130
    finish_and_compare(slow, uninterrupted)


def test_a_stopped_run_shows_standings_and_says_that_it_is_not_complete(slow: Any) -> None:
    child = slow.start(*RUN, command=SLOWLY)
    lines_until(child, " of 140 matches")
    child.send_signal(signal.SIGTERM)
    finished(child)
    done = slow("leaderboard", "--db", "record.duckdb")
    assert done.lines == ["run 1 is not complete: its latest session is recorded as interrupted"]
    assert "slow_0" in done.out


def test_a_run_that_is_killed_several_times_ends_with_the_same_digest(
    slow: Any, uninterrupted: str
) -> None:
    draw = random.Random(11)
    recorded = 0
    for moment in ("bots, 140 matches", r"\d of \d+ matches,|matches played") * 3:
        child = slow.start(*RUN, command=SLOWLY)
        lines_until(child, moment)
        time.sleep(draw.uniform(0, 0.5))
        workers = descendants(child.pid)
        child.kill()
        child.communicate()
        deadline = time.monotonic() + 5
        while alive(workers):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        [[matches, different]] = slow.rows(
            "select count(*), count(distinct (run, lineup, repetition)) from matches"
        )
        assert recorded <= matches == different
        recorded = matches
    assert recorded
    finish_and_compare(slow, uninterrupted)


def test_killed_workers_are_replaced_and_the_digest_stays_the_same(
    slow: Any, uninterrupted: str
) -> None:
    child = slow.start(*RUN, command=SLOWLY)
    lines_until(child, " of 140 matches")
    for worker in descendants(child.pid):
        os.kill(worker, signal.SIGKILL)
    code, err = finished(child)
    assert code == 0
    assert "140 matches played" in err
    finish_and_compare(slow, uninterrupted)


def test_a_command_on_a_record_in_use_is_refused_with_the_process_that_uses_it(slow: Any) -> None:
    child = slow.start(*RUN, command=SLOWLY)
    lines_until(child, "bots, 140 matches")
    before = time.monotonic()
    for words in (
        RUN,
        ("leaderboard", "--db", "record.duckdb"),
        ("sql", "from runs", "--db", "record.duckdb"),
    ):
        done = slow(*words, code=2)
        assert len(done.lines) == 1
        assert f"record.duckdb is in use by process {child.pid}" in done.err
        if time.monotonic() - before > 1:
            break  # the first command may have ended by now
    child.send_signal(signal.SIGTERM)
    finished(child)


@pytest.fixture
def empty_cache(tmp_path: Path, image: Any) -> Iterator[dict[str, str]]:
    """An environment whose cache has the image that was built, but not the compiled one."""
    cache = tmp_path / "cache"
    cache.mkdir()
    for component in image.compiled.parent.glob("bot-*.wasm"):
        (cache / component.name).symlink_to(component)
    yield {"TOURNAMENT_CACHE": str(cache)}
    shutil.rmtree(cache)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("wait", [0.0, 0.5])
def test_a_signal_stops_the_compilation_of_the_image_within_seconds(
    slow: Any, empty_cache: dict[str, str], number: signal.Signals, wait: float
) -> None:
    child = slow.start(*RUN, environment=empty_cache)
    lines_until(child, "compiling the sandbox image")
    time.sleep(wait)
    child.send_signal(number)
    before = time.monotonic()
    code, printed = finished(child)
    assert code == 128 + number
    assert printed.endswith(
        "stopped after 0 of 140 matches: run the same command again to continue\n"
    )
    assert time.monotonic() - before < 4
    assert not list(Path(empty_cache["TOURNAMENT_CACHE"]).glob("*.cwasm"))
    nothing = slow("leaderboard", "--db", "record.duckdb", code=2)
    assert nothing.err.startswith("tournament: this record has no runs yet")


def test_a_signal_while_the_image_is_built_leaves_no_process_behind(
    slow: Any, tmp_path: Path
) -> None:
    source = Path(package.__file__).parent
    checkout = tmp_path / "checkout"
    shutil.copytree(source, checkout / "tournament", ignore=shutil.ignore_patterns("*.wasm"))
    environment = {"PYTHONPATH": str(checkout), "TOURNAMENT_CACHE": str(tmp_path / "cache")}
    child = slow.start(*RUN, environment=environment)
    lines_until(child, "building the sandbox image")
    deadline = time.monotonic() + 10
    while not descendants(child.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    code, _ = finished(child)
    assert code == 130
    assert not list((tmp_path / "cache").glob("*wasm"))


def test_a_single_match_can_be_stopped(slow: Any, empty_cache: dict[str, str]) -> None:
    child = slow.start("play", "tit_for_tat", "grim", environment=empty_cache)
    lines_until(child, "compiling the sandbox image")
    child.send_signal(signal.SIGINT)
    assert finished(child) == (130, "")


def test_a_run_can_be_stopped_while_a_bot_is_in_an_endless_loop(slow: Any) -> None:
    for file in (slow.folder / "bots").iterdir():
        file.write_text(f"# {file.name}\ndef act(view):\n    while True:\n        pass\n")
    child = slow.start(*RUN, "--fuel", 10**14)
    lines_until(child, "bots, 140 matches")
    time.sleep(1)
    assert select.select([child.stderr], [], [], 0)[0] == []
    before = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert finished(child)[0] == 130
    assert time.monotonic() - before < 4
