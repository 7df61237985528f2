"""The sandbox image, waited for without standing in the way of a stop."""

import threading
from concurrent.futures import Future
from contextlib import suppress

import anyio
from anyio import from_thread, lowlevel

from tournament.sandbox.image import Image, Say, prepare


async def image_ready(say: Say) -> Image:
    """What `prepare` makes, in a thread that does not keep a process alive that is told to stop meanwhile."""
    made: Future[Image] = Future()
    done = anyio.Event()
    token = lowlevel.current_token()

    def work() -> None:
        try:
            made.set_result(prepare(say))
        except BaseException as error:
            made.set_exception(error)
        with suppress(RuntimeError):  # nobody waits any more
            from_thread.run_sync(done.set, token=token)

    threading.Thread(target=work, daemon=True).start()
    await done.wait()
    return made.result()
