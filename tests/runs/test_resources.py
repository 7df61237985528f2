"""The resources of a session: how a signal stops them, and in which order they are closed."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process

from tournament.runs.resources import open_resources
from tournament.sandbox.image import Image
from tournament.sandbox.limits import Limits
from tournament.store import Record

UNSTOPPABLE = """
import anyio
from tournament.runs.resources import Stop

async def hold():
    stop = Stop()
    async with anyio.create_task_group() as group:
        await group.start(stop.listen)
        with stop.cancellable(), anyio.CancelScope(shield=True):
            print("held", flush=True)
            while stop.signal is None:
                await anyio.sleep(0.01)
            print("heard", flush=True)
            await anyio.sleep(60)

anyio.run(hold)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_a_process_that_the_first_did_not_stop(number: signal.Signals) -> None:
    command = [sys.executable, "-c", UNSTOPPABLE]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        child.send_signal(number)
        assert child.stdout.readline() == "heard\n"
        child.send_signal(number)
        try:
            out, errors = child.communicate(timeout=20)
        finally:
            child.kill()
    assert (child.returncode, out, errors) == (128 + number, "", "")


def test_workers_end_while_the_record_is_closed(
    image: Image, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = threading.Event()
    gone_in_time: list[bool] = []
    close = Record.close

    def close_late(record: Record) -> None:
        gone_in_time.append(gone.wait(10))
        close(record)

    monkeypatch.setattr(Record, "close", close_late)

    async def set_when_gone(process: Process) -> None:
        await process.wait()
        gone.set()

    async def main() -> None:
        path = tmp_path / "record.duckdb"
        async with (
            anyio.create_task_group() as group,
            open_resources(path, [], Limits(), 1, print) as room,
        ):
            pool, _ = await room.pending_pool.ready()
            assert pool._server is not None
            group.start_soon(set_when_gone, pool._server._process)

    anyio.run(main)
    assert gone_in_time == [True]
