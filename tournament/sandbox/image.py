"""The sandbox image: CPython and our guest as one WebAssembly component, built once and compiled once.

A wheel carries the image. In a source checkout it is built when the checkout is installed, and built again in the
user's cache when the guest has changed since. The compiled form depends on the machine and is always made here.
"""

import atexit
import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tournament.errors import ImageError

HERE = Path(__file__).parent
GUEST = HERE / "guest"
FINISH = HERE / "wasm"
SEEDS = HERE.parent / "seeds.py"
BUILDER = "componentize_py"
RECIPE = "fuel nan component 1"
"""Names the engine settings of `instance.engine` that a compiled image depends on."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Image:
    """A compiled image: where it lies, and the SHA-256 of the component it was compiled from."""

    compiled: Path
    digest: str


def guest_files() -> list[Path]:
    """Everything of ours that goes into the image."""
    return [*sorted(GUEST.glob("*.py")), GUEST / "bot.wit", SEEDS]


@cache
def guest_digest() -> str:
    """A digest of the guest's source, and of what is done to it: an image is current if it was built from this."""
    digest = hashlib.sha256()
    for file in [*guest_files(), *sorted(FINISH.glob("*.*"))]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """The user's cache for images, readable by nobody else; `TOURNAMENT_CACHE` names another."""
    named = os.environ.get("TOURNAMENT_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / (
        "Library/Caches" if sys.platform == "darwin" else ".cache"
    )
    folder = Path(named) if named else Path(base) / "tournament"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise ImageError(
            f"cannot keep the sandbox image in {folder} ({error.strerror}): "
            "set TOURNAMENT_CACHE to a folder of your own"
        ) from error
    return folder


def prepare(say: Say = lambda text: None) -> Image:
    """The compiled image, built and compiled first where that has not been done; `say` is told what takes long.

    Raises `ImageError` if it can neither be found nor made.
    """
    folder = cache_folder()
    with _alone(folder / "lock", say):
        component = _component(folder, say)
        digest = _digest(component, folder)
        compiled = folder / f"{digest[:16]}-{_machine()}.cwasm"
        if not compiled.exists():
            say("compiling the sandbox image for this machine (once, about 10 seconds)")
            _written(compiled, _compile(component))
        return Image(compiled, digest)


def build(target: Path) -> None:
    """Build the component at `target`. Raises `ImageError` with the builder's own words if that fails."""
    # Imported only by who builds: wasmtime comes with it.
    from tournament.sandbox.wasm import finished

    with tempfile.TemporaryDirectory() as folder:
        for file in guest_files():
            shutil.copy(file, folder)
        output = Path(folder, "bot.wasm")
        run = f"import {BUILDER}; {BUILDER}.script()"
        command = [sys.executable, "-c", run, "-d", "bot.wit", "-w", "bot", "componentize"]
        command += ["--stub-wasi", "-p", folder, "app", "-o", str(output)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True) as builder:
            # A process that is told to stop may end while a thread of it waits here.
            atexit.register(builder.kill)
            _, errors = builder.communicate()
            atexit.unregister(builder.kill)
        if builder.returncode or not output.exists():
            raise ImageError(f"the sandbox image could not be built: {errors.strip()[-2000:]}")
        _written(target, finished(output.read_bytes()))


def image_name() -> str:
    """The file name of an image built from the guest as it is now."""
    return f"bot-{guest_digest()}.wasm"


def _component(folder: Path, say: Say) -> Path:
    for place in (HERE, folder):
        if (found := place / image_name()).exists():
            return found
    if importlib.util.find_spec(BUILDER) is None:
        raise ImageError(
            "the sandbox image is missing or older than this checkout: run `pip install -e .` again"
        )
    say("building the sandbox image (once, about 30 seconds)")
    build(folder / image_name())
    return folder / image_name()


def _digest(component: Path, folder: Path) -> str:
    """The SHA-256 of a file, kept in the folder: to read it all takes longer than the rest of a start."""
    state = component.stat()
    kept = folder / f"{component.stem}-{state.st_size}-{state.st_mtime_ns}.sha256"
    if not kept.exists():
        with component.open("rb") as file:
            _written(kept, hashlib.file_digest(file, "sha256").hexdigest().encode())
    return kept.read_text()


def _compile(component: Path) -> bytes:
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    from tournament.sandbox.instance import engine

    try:
        return bytes(Component.from_file(engine(), str(component)).serialize())
    except WasmtimeError as error:
        raise ImageError(f"the sandbox image could not be compiled: {error}") from error


def _machine() -> str:
    """A digest of what a compiled image depends on: wasmtime, our settings, processor and its features."""
    parts = [RECIPE, importlib.metadata.version("wasmtime"), platform.system(), platform.machine()]
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        parts.append(next((line for line in file if line.startswith(("flags", "Features"))), ""))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _written(target: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except OSError as error:
        os.unlink(temporary)
        raise ImageError(f"cannot write {target}: {error.strerror}") from error


@contextlib.contextmanager
def _alone(lock: Path, say: Say) -> Iterator[None]:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that prepares the sandbox image")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
