"""Where sittings are held, and what a signal does there."""

import signal
import subprocess
import sys

import pytest

UNSTOPPABLE = """
import anyio
from tournament.room import Stop

async def hold():
    stop = Stop()
    async with anyio.create_task_group() as group:
        await group.start(stop.listen)
        with stop.heard(), anyio.CancelScope(shield=True):
            print("held", flush=True)
            while stop.signal is None:
                await anyio.sleep(0.01)
            print("heard", flush=True)
            await anyio.sleep(60)

anyio.run(hold)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_what_the_first_did_not(number: signal.Signals) -> None:
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
