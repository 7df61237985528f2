"""Waits for the sandbox image without delaying the end of the process."""

import threading
from concurrent.futures import Future
from contextlib import suppress

import anyio
from anyio import from_thread, lowlevel

from tournament.sandbox.image import Image, Say, prepare


async def image_ready(report: Say) -> Image:
    """Run `prepare` in a daemon thread and return its image; what it raises is raised here.

    A daemon thread does not keep the process alive if the process is told to stop meanwhile.
    """
    made: Future[Image] = Future()
    finished = anyio.Event()
    token = lowlevel.current_token()

    def work() -> None:
        try:
            made.set_result(prepare(report))
        except BaseException as error:
            made.set_exception(error)
        with suppress(RuntimeError):  # the event loop has ended
            from_thread.run_sync(finished.set, token=token)

    threading.Thread(target=work, daemon=True).start()
    await finished.wait()
    return made.result()
