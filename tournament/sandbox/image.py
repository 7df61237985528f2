"""The sandbox image: CPython and the guest code as one WebAssembly component, which is built once and compiled once.

A wheel contains the image. In a source checkout, the image is built when the checkout is installed, and it is built
again in the user's cache if the guest has changed since. The compiled form depends on the machine, so it is never
shipped: it is always made in the user's cache.
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
"""The name of the settings in `instance.engine` that a compiled image depends on; it changes when they do."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Image:
    """A compiled image: the path of its file, and the SHA-256 of the component that it was compiled from."""

    compiled: Path
    digest: str


def guest_files() -> list[Path]:
    """Return all files of this project that go into the image."""
    return [*sorted(GUEST.glob("*.py")), GUEST / "bot.wit", SEEDS]


@cache
def guest_digest() -> str:
    """Return a digest of the guest files and of the code that finishes the image.

    An image is up to date if it was built from files with this digest.
    """
    digest = hashlib.sha256()
    for file in [*guest_files(), *sorted(FINISH.glob("*.*"))]:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Return the user's cache folder for images, which is made if needed and which only the user can read.

    The environment variable `TOURNAMENT_CACHE` names another folder. Raises `ImageError` if it cannot be made.
    """
    default = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    base = os.environ.get("XDG_CACHE_HOME") or default
    folder = Path(os.environ.get("TOURNAMENT_CACHE") or Path(base, "tournament"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    except OSError as error:
        raise ImageError(
            f"cannot keep the sandbox image in {folder} ({error.strerror}): "
            "set TOURNAMENT_CACHE to a folder of your own"
        ) from error
    return folder


def prepare(report: Say = lambda text: None) -> Image:
    """Return the compiled image; it is built and compiled first if that has not been done.

    `report` is called with a message before each step that takes long. Raises `ImageError` if the image can neither be
    found nor made.
    """
    folder = cache_folder()
    with _locked(folder / "lock", report):
        component = _component(folder, report)
        digest = hashlib.sha256(component.read_bytes()).hexdigest()
        compiled = folder / f"{digest[:16]}-{_machine()}.cwasm"
        if not compiled.exists():
            report("compiling the sandbox image for this machine (once, about 10 seconds)")
            _write(compiled, _compile(component))
        return Image(compiled, digest)


def build(target: Path) -> None:
    """Build the component and write it to `target`.

    Raises `ImageError`, with the end of the builder's error output, if that fails.
    """
    # Imported only when an image is built, because it imports wasmtime.
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
            # This process may end while one of its threads waits here: the builder must then end too.
            atexit.register(builder.kill)
            _, errors = builder.communicate()
            atexit.unregister(builder.kill)
        if builder.returncode or not output.exists():
            raise ImageError(f"the sandbox image could not be built: {errors.strip()[-2000:]}")
        _write(target, finished(output.read_bytes()))


def image_name() -> str:
    """Return the file name of an image that is built from the present guest files."""
    return f"bot-{guest_digest()}.wasm"


def _component(folder: Path, report: Say) -> Path:
    """Return the path of the up-to-date component, which is built in the folder if it is missing."""
    for parent in (HERE, folder):
        if (found := parent / image_name()).exists():
            return found
    if importlib.util.find_spec(BUILDER) is None:
        raise ImageError(
            "the sandbox image is missing or older than this checkout: run `pip install -e .` again"
        )
    report("building the sandbox image (once, about 30 seconds)")
    build(folder / image_name())
    return folder / image_name()


def _compile(component: Path) -> bytes:
    """Return the compiled form of a component. Raises `ImageError`."""
    from wasmtime import WasmtimeError
    from wasmtime.component import Component

    from tournament.sandbox.instance import engine

    try:
        return bytes(Component.from_file(engine(), str(component)).serialize())
    except WasmtimeError as error:
        raise ImageError(f"the sandbox image could not be compiled: {error}") from error


def _machine() -> str:
    """Return a digest of what a compiled image depends on: wasmtime, its settings, the system and the processor."""
    parts = [RECIPE, importlib.metadata.version("wasmtime"), platform.system(), platform.machine()]
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        parts.append(next((line for line in file if line.startswith(("flags", "Features"))), ""))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _write(target: Path, content: bytes) -> None:
    """Write a file in one atomic step, so that other processes never read an incomplete file. Raises `ImageError`."""
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
def _locked(lock: Path, report: Say) -> Iterator[None]:
    """Hold the lock file for the block, so that only one process at a time prepares an image."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("waiting for another process that prepares the sandbox image")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
