"""The lock around workers, tested from inside: child processes run this file as a program and try to break out.

If the tests are run by root, everything is also tried as the user nobody, because the two differ.
"""

import ctypes
import errno
import json
import mmap
import os
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import wasmtime

from tournament.sandbox import lockdown

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's")

NO_PARTICIPANTS = 65534
CHANNEL = (0, 1)
MEMORY = 1 << 30
ROOT = Path(lockdown.__file__).parents[2]

# ---------------------------------------------------------------- what the children do

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_long


def call(function: str, *arguments: object) -> None:
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    if getattr(libc, function)(*wide) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def connect(port: int) -> None:
    with socket.socket() as fresh:
        fresh.connect(("127.0.0.1", port))


def attempts(port: int) -> dict[str, Callable[[], object]]:
    """Return by name what a locked process must not be able to do, with everything that an attempt needs."""
    parent, own = os.getppid(), os.getpid()
    file = os.open(tempfile.gettempdir(), os.O_RDWR | os.O_TMPFILE)
    reading, writing = os.pipe()
    os.write(writing, b"x")
    old = socket.socket()
    page = mmap.PAGESIZE
    private = mmap.MAP_PRIVATE | mmap.MAP_ANON
    writable, runnable = mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ | mmap.PROT_EXEC
    own_page = ctypes.c_char.from_buffer(mmap.mmap(-1, page, private))
    limits = ctypes.create_string_buffer(16)
    bpf = 321 if os.uname().machine == "x86_64" else 280
    return {
        "open": lambda: os.close(os.open(__file__, os.O_RDONLY)),
        "openat2": lambda: call("syscall", 437, -100, None, None, 0),
        "listdir": lambda: os.listdir("/"),
        "read /proc": lambda: os.close(os.open("/proc/self/mem", os.O_RDONLY)),
        "socket": lambda: socket.socket().close(),
        "connect": lambda: connect(port),
        "connect an old socket": lambda: old.connect(("127.0.0.1", port)),
        "write to a file": lambda: os.write(file, b"x"),
        "write to a pipe": lambda: os.write(writing, b"x"),
        "read a pipe": lambda: os.read(reading, 1),
        "duplicate": lambda: os.close(os.dup(1)),
        "share a file": lambda: call("mmap", None, page, writable, mmap.MAP_SHARED, file, 0),
        "memfd": lambda: os.close(os.memfd_create("x")),
        "executable memory": lambda: call("mmap", None, page, runnable, private, -1, 0),
        "make memory executable": lambda: call("mprotect", ctypes.byref(own_page), page, runnable),
        "fork": fork,
        "thread": lambda: call("syscall", 435, None, 0),
        "exec": lambda: os.execv("/nowhere", ["nowhere"]),
        "signal the parent": lambda: os.kill(parent, 0),
        "signal itself": lambda: os.kill(own, 0),
        "pidfd": lambda: call("syscall", 434, own, 0),
        "ptrace": lambda: call("ptrace", 0x4206, 0x7FFFFFFF, 0, 0),
        "read a process": lambda: call("process_vm_readv", own, None, 0, None, 0, 0),
        "unshare": lambda: call("unshare", 0x400),
        "setrlimit": lambda: call("setrlimit", resource.RLIMIT_CORE, limits),
        "change directory": lambda: os.chdir("/"),
        "io_uring": lambda: call("syscall", 425, 0, None),
        "bpf": lambda: call("syscall", bpf, 0, None, 0),
    }


def outcome(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as problem:
        return errno.errorcode[problem.errno or 0]
    return "done"


def say(**answer: object) -> None:
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()


def probe() -> list[str]:
    """Try what a locked process must not be able to do and needs nothing for; the names of what succeeded."""
    private, runnable = mmap.MAP_PRIVATE | mmap.MAP_ANON, mmap.PROT_READ | mmap.PROT_EXEC
    tries: dict[str, Callable[[], object]] = {
        "open a file": lambda: open(__file__).close(),
        "read /proc": lambda: open("/proc/self/maps").close(),
        "create a socket": lambda: socket.socket().close(),
        "fork": fork,
        "map executable memory": lambda: mmap.mmap(-1, mmap.PAGESIZE, private, runnable).close(),
        # In a locked process getppid is refused too and gives -1, which kill takes as all processes.
        "signal the parent": lambda: os.kill(os.getppid(), 0),
    }
    return [name for name, attempt in tries.items() if outcome(attempt) == "done"]


def child_attempts(port: str, *layers: str) -> None:
    lockdown.die_with_parent()
    tries = attempts(int(port))
    held = lockdown.lock_down(CHANNEL, MEMORY, layers=layers)
    outcomes = {name: outcome(attempt) for name, attempt in tries.items()}
    say(held=held, outcomes=outcomes, probe=probe())


def child_elsewhere(system: str, machine: str) -> None:
    lockdown.die_with_parent()
    held = lockdown.lock_down(CHANNEL, MEMORY, system=system, machine=machine)
    say(held=held, probe=probe())


def child_status(*layers: str) -> None:
    with open("/proc/self/status") as status:
        before = os.readlink("/proc/self/ns/user"), os.readlink("/proc/self/ns/net")
        held = lockdown.lock_down(CHANNEL, MEMORY, layers=layers)
        lines = dict(line.split(":", 1) for line in status)
    after = os.readlink("/proc/self/ns/user"), os.readlink("/proc/self/ns/net")
    say(held=held, status=lines, fresh=[a != b for a, b in zip(before, after, strict=True)])


def child_threads() -> None:
    locked, tried = threading.Event(), threading.Event()
    found = []

    def other() -> None:
        locked.wait()
        found.append(outcome(lambda: os.listdir("/")))
        tried.set()

    threading.Thread(target=other, daemon=True).start()
    held = lockdown.lock_down(CHANNEL, MEMORY)
    locked.set()
    tried.wait()
    say(held=held, other=found)


def child_echo() -> None:
    lockdown.lock_down(CHANNEL, MEMORY)
    while header := sys.stdin.buffer.read(4):
        body = sys.stdin.buffer.read(*struct.unpack("<I", header))
        sys.stdout.buffer.write(header + body.upper())
        sys.stdout.buffer.flush()
    sys.stderr.write("at an end")


def child_worker() -> None:
    lockdown.die_with_parent()
    lockdown.lock_down(CHANNEL, MEMORY)
    say(locked=True)
    sys.stdin.read()


def child_engine() -> None:
    subprocess.run(command("worker"), check=True)


def child_greedy() -> None:
    held = lockdown.lock_down(CHANNEL, 64 << 20)
    try:
        bytearray(128 << 20)
    except MemoryError:
        say(held=held, refused=True)
    else:
        say(held=held, refused=False)


def child_crash(image: str) -> None:
    wasmtime.Module.deserialize_file(metered(), image)
    lockdown.lock_down(CHANNEL, MEMORY)
    ctypes.string_at(0)


def child_wasm(image: str) -> None:
    engine = metered()
    module = wasmtime.Module.deserialize_file(engine, image)
    lockdown.die_with_parent()
    held = lockdown.lock_down(CHANNEL, MEMORY)

    def instance() -> tuple[wasmtime.Store, wasmtime.Instance]:
        store = wasmtime.Store(engine)
        store.set_fuel(1_000_000)
        store.set_limits(memory_size=16 << 20)
        number = wasmtime.ValType.i32()
        double = wasmtime.Func(store, wasmtime.FuncType([number], [number]), lambda x: 2 * x)
        return store, wasmtime.Instance(store, module, [double])

    def run(name: str, *arguments: int) -> object:
        store, fresh = instance()
        function = fresh.exports(store)[name]
        assert isinstance(function, wasmtime.Func)
        try:
            return function(store, *arguments)
        except wasmtime.Trap as trap:
            return trap.trap_code.name if trap.trap_code else None

    answers = {
        "host": run("host", 21),
        "poke": run("poke", 4096),
        "peek": run("peek", 4096),
        "grow": run("grow", 255),
        "grow too far": run("grow", 256),
        "out of bounds": run("peek", -1),
        "spin": run("spin"),
        "unreachable": run("unreachable"),
        "deep": run("deep"),
    }
    together = [instance() for _ in range(300)]
    say(held=held, answers=answers, instances=len(together), probe=probe())


# ---------------------------------------------------------------- running them

MODULE = """(module
  (import "engine" "double" (func $double (param i32) (result i32)))
  (memory 1)
  (data (i32.const 4096) "A")
  (func (export "host") (param i32) (result i32) (call $double (local.get 0)))
  (func (export "peek") (param i32) (result i32) (i32.load8_u (local.get 0)))
  (func (export "poke") (param i32) (result i32)
    (i32.store8 (local.get 0) (i32.const 66)) (i32.load8_u (local.get 0)))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
  (func (export "spin") (loop (br 0)))
  (func (export "unreachable") unreachable)
  (func $deep (export "deep") (call $deep)))"""


def metered() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.consume_fuel = True
    return wasmtime.Engine(config)


def command(name: str, *arguments: str) -> list[str]:
    return [sys.executable, "-B", __file__, name, *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run(
    user: int, name: str, *arguments: str, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(name, *arguments),
        input=given,
        capture_output=True,
        timeout=60,
        env=environment(),
        cwd="/",
        user=user,
        extra_groups=[] if os.geteuid() == 0 else None,
    )


def ask(user: int, name: str, *arguments: str, needs: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a child's answer; skip the test if the kernel lacks one of the layers that it needs."""
    done = run(user, name, *arguments)
    assert done.returncode == 0, done.stderr.decode()
    answer: dict[str, Any] = json.loads(done.stdout)
    for layer in needs:
        skip_without(layer, answer["held"][layer])
    return answer


def skip_without(layer: str, report: str) -> None:
    if report.startswith("none:"):
        assert layer in ("namespaces", "root", "landlock", "seccomp"), f"{layer}: {report}"
        pytest.skip(f"{layer}: {report}")


@pytest.fixture(params=["self", "nobody"])
def user(request: pytest.FixtureRequest) -> int:
    if request.param == "self":
        return os.geteuid()
    if os.geteuid() != 0:
        pytest.skip("only root can become nobody")
    try:
        subprocess.run(
            [sys.executable, "-c", f"open({__file__!r})"], user=NO_PARTICIPANTS, cwd="/", check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"nobody may not run {sys.executable} or read the tests")
    return NO_PARTICIPANTS


@pytest.fixture(scope="module")
def port() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)  # because the user nobody cannot enter pytest's own folder
        path = Path(directory, "module.cwasm")
        path.write_bytes(wasmtime.Module(metered(), MODULE).serialize())
        yield str(path)


# ---------------------------------------------------------------- the tests


def test_all_layers_together_stop_every_attempt(user: int, port: str) -> None:
    answer = ask(user, "attempts", port, *lockdown.LAYERS, needs=lockdown.LAYERS)
    assert {name: result for name, result in answer["outcomes"].items() if result != "EPERM"} == {}
    assert answer["probe"] == []


def test_the_same_attempts_succeed_without_the_lock(port: str) -> None:
    answer = ask(os.geteuid(), "attempts", port)
    outcomes = answer["outcomes"]
    for name in ("io_uring", "bpf"):  # many machines forbid these to everybody
        del outcomes[name]
    failing = {name: result for name, result in outcomes.items() if result != "done"}
    arguments_of_no_use = {
        "openat2": "EINVAL",
        "thread": "EINVAL",
        "exec": "ENOENT",
        "ptrace": "ESRCH",
    }
    assert failing == arguments_of_no_use
    assert len(answer["probe"]) == 6


ALONE = {
    "namespaces": {"connect": "ENETUNREACH"},
    "namespaces root": {"open": "ENOENT", "read /proc": "ENOENT"},
    "landlock": {"open": "EACCES", "listdir": "EACCES", "connect": "EACCES"},
    "rlimits": {"open": "EMFILE", "socket": "EMFILE", "memfd": "EMFILE"},
    "seccomp": {"open": "EPERM", "connect an old socket": "EPERM", "fork": "EPERM"},
}


@pytest.mark.parametrize("layers", ALONE)
def test_each_layer_alone_stops_its_attempts(user: int, port: str, layers: str) -> None:
    names = tuple(layers.split())
    answer = ask(user, "attempts", port, *names, needs=names)
    outcomes = answer["outcomes"]
    assert {name: outcomes[name] for name in ALONE[layers]} == ALONE[layers]


@pytest.mark.parametrize("layer", lockdown.LAYERS)
def test_each_layer_is_reported_separately(user: int, port: str, layer: str) -> None:
    answer = ask(user, "attempts", port, layer)
    held = answer["held"]
    assert list(held) == [layer]
    if layer == "root" and user != 0:
        assert held["root"] == "none: unshare: Operation not permitted"
    else:
        skip_without(layer, held[layer])


def test_the_lock_does_not_change_the_root_of_the_machine(port: str) -> None:
    before = os.listdir("/"), os.stat("/tmp").st_dev
    ask(os.geteuid(), "attempts", port, "root")
    assert (os.listdir("/"), os.stat("/tmp").st_dev) == before


def test_namespaces_are_new(user: int) -> None:
    assert ask(user, "status", "namespaces", needs=("namespaces",))["fresh"] == [True, True]


def test_no_privileges_remain(user: int) -> None:
    layers = ("namespaces", "privileges")
    status = ask(user, "status", *layers, needs=layers)["status"]
    assert int(status["CapPrm"], 16) == int(status["CapEff"], 16) == int(status["CapInh"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"


def test_memory_is_capped(user: int) -> None:
    assert ask(user, "greedy", needs=("rlimits",))["refused"]


def test_frames_and_messages_still_pass(user: int) -> None:
    bodies = [b"one", b"", b"x" * 1_000_000]
    frames = [struct.pack("<I", len(body)) + body for body in bodies]
    done = run(user, "echo", given=b"".join(frames))
    assert done.stdout == b"".join(f[:4] + f[4:].upper() for f in frames)
    assert done.stderr == b"at an end"
    assert done.returncode == 0


def test_worker_dies_with_its_engine(user: int) -> None:
    said = b'{"locked": true}'
    with subprocess.Popen(
        command("engine"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        cwd="/",
        user=user,
    ) as engine:
        assert engine.stdout
        assert engine.stdout.read(len(said)) == said
        engine.kill()
        # Only the worker still has the other end of stdout, and nothing has closed its stdin.
        assert select.select([engine.stdout], [], [], 10)[0], "the worker lives on"


def test_wasm_runs_under_the_lock(user: int, image: str) -> None:
    answer = ask(user, "wasm", image, needs=lockdown.LAYERS)
    assert answer["answers"] == {
        "host": 42,
        "poke": ord("B"),
        "peek": ord("A"),
        "grow": 1,
        "grow too far": -1,
        "out of bounds": "MEMORY_OUT_OF_BOUNDS",
        "spin": "OUT_OF_FUEL",
        "unreachable": "UNREACHABLE",
        "deep": "STACK_OVERFLOW",
    }
    assert answer["instances"] == 300
    assert answer["probe"] == []


def test_a_crash_ends_the_worker(user: int, image: str) -> None:
    assert run(user, "crash", image).returncode == -signal.SIGSEGV


def test_the_lock_covers_other_threads_with_the_filter_only_and_reports_it() -> None:
    answer = ask(os.geteuid(), "threads", needs=("seccomp",))
    held = answer["held"]
    for layer in ("namespaces", "root", "privileges", "landlock"):
        assert held[layer] == "none: would not hold for other threads"
    assert answer["other"] == ["EPERM"]


def test_a_system_without_layers_is_reported() -> None:
    answer = ask(os.geteuid(), "elsewhere", "darwin", "arm64")
    held = answer["held"]
    assert not held.pop("rlimits").startswith("none:")
    assert set(held.values()) == {"none: darwin has no such layer"}
    assert "map executable memory" in answer["probe"]


def test_an_unknown_machine_has_all_but_seccomp() -> None:
    answer = ask(os.geteuid(), "elsewhere", "linux", "riscv64", needs=("namespaces", "landlock"))
    held = answer["held"]
    assert held["seccomp"] == "none: no table of system calls for riscv64"
    assert "open a file" not in answer["probe"]
    assert "map executable memory" in answer["probe"]


# ---------------------------------------------------------------- the filter, on both machines


def verdict(machine: str, mark: int, number: int, *arguments: int) -> int:
    """Return the kernel's decision about a system call, by interpreting the filter's operations."""
    shown = struct.pack("<iIQ6Q", number, mark, 0, *arguments, *[0] * (6 - len(arguments)))
    code = lockdown._filter(CHANNEL, machine)
    at = accumulator = 0
    while True:
        operation, operand, skip = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", shown, operand)
        elif operation == 0x06:
            return operand
        else:
            true = accumulator == operand if operation == 0x15 else accumulator & operand
            at += 0 if true else skip


ALLOWED, REFUSED, KILLED = 0x7FFF0000, 0x00050001, 0x80000000
MARKS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@pytest.mark.parametrize("column, machine", list(enumerate(MARKS)))
def test_filter(column: int, machine: str) -> None:
    read, write, mmap_, mprotect, openat = (
        pair[column] for pair in ((0, 63), (1, 64), (9, 222), (10, 226), (257, 56))
    )
    mark = MARKS[machine]
    private, shared = 0x22, 0x01
    assert [verdict(machine, mark, read, fd) for fd in range(4)] == [
        ALLOWED, ALLOWED, REFUSED, REFUSED,
    ]  # fmt: skip
    assert [verdict(machine, mark, write, fd) for fd in range(4)] == [
        ALLOWED, ALLOWED, ALLOWED, REFUSED,
    ]  # fmt: skip
    assert verdict(machine, mark, mmap_, 0, 4096, 3, private) == ALLOWED
    assert verdict(machine, mark, mmap_, 0, 4096, 7, private) == REFUSED
    assert verdict(machine, mark, mmap_, 0, 4096, 3, shared) == REFUSED
    assert verdict(machine, mark, mprotect, 0, 4096, 3) == ALLOWED
    assert verdict(machine, mark, mprotect, 0, 4096, 5) == REFUSED
    assert verdict(machine, mark, openat) == REFUSED
    assert verdict(machine, mark, read | 0x40000000) == REFUSED  # the x32 way of calling
    assert verdict(machine, 0x40000003, read) == KILLED  # the 32-bit one


@pytest.mark.parametrize(
    "column, header",
    [(0, "x86_64-linux-gnu/asm/unistd_64.h"), (1, "asm-generic/unistd.h")],
)
def test_the_numbers_of_system_calls_are_those_of_the_kernel(column: int, header: str) -> None:
    path = Path("/usr/include", header)
    if not path.exists():
        pytest.skip(f"no {path}")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", path.read_text()))
    named = lockdown._HARMLESS | {
        "read": lockdown._READ,
        "write": lockdown._WRITE,
        "mmap": lockdown._MMAP,
        "mprotect": lockdown._MPROTECT,
        "seccomp": lockdown._SECCOMP,
    }
    for name, numbers in named.items():
        assert numbers[column] == int(known[name]), name


if __name__ == "__main__":
    globals()[f"child_{sys.argv[1]}"](*sys.argv[2:])
