"""Locks the worker process down, so that a bot gains nothing from a bug in the WebAssembly runtime.

By design a bot cannot leave its instance. The lockdown is a second barrier, in case the runtime has
a bug. The worker first does everything that needs the operating system (imports, mapping the
compiled image) and then gives up its access to the system for good. It keeps only its memory, its
processor time, its stderr and the channel to the engine.

The layers do not depend on each other: where one is not available (another system, an old kernel,
namespaces forbidden), the others still hold. The report says which layers hold, for the run's
manifest.
"""

import ctypes
import errno
import mmap
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Collection

LAYERS = ("namespaces", "root", "privileges", "landlock", "rlimits", "pdeathsig", "seccomp")
"""The layers in the order in which they are applied: a later one may forbid what an earlier one needs."""

_OF_ONE_THREAD = ("namespaces", "root", "privileges", "landlock")
"""The layers that apply only to the thread that asks for them, so that there must be no other thread."""


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends (Linux; on other systems nothing happens).

    A process must call this before anything else. "Parent" means the *thread* that started this
    process: an engine that starts workers from a thread must keep that thread running.
    """
    if sys.platform != "linux":
        return
    parent = os.getppid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent ended before the kernel knew that
        os.kill(os.getpid(), signal.SIGKILL)


def lock_down(
    channel: tuple[int, ...],
    memory: int,
    *,
    layers: Collection[str] = LAYERS,
    system: str = sys.platform,
    machine: str = os.uname().machine,
) -> dict[str, str]:
    """Apply the layers and return, by layer, what is in force or "none: " and the reason.

    A layer that fails raises no error. Afterwards the process can only read and write the descriptors
    of `channel` (pipes or sockets: files cannot be written), write to stderr, and have `memory` bytes
    of private writable memory in all, whether or not it is used. That must be more than its instances
    may have together; otherwise one instance could be refused memory because of another. Before the
    call, modules must be imported and images mapped, and no second thread may have been started.
    """
    apply: dict[str, Callable[[], str]] = {
        "namespaces": _namespaces,
        "root": _empty_root,
        "privileges": _no_privileges,
        "landlock": _landlock,
        "rlimits": lambda: _limits(memory),
        "pdeathsig": _death_signal,
        "seccomp": lambda: _seccomp(channel, machine),
    }
    alone = _one_thread()

    def attempt(layer: str) -> str:
        try:
            if system != "linux" and layer != "rlimits":
                raise OSError(f"{system} has no such layer")
            if layer in _OF_ONE_THREAD and not alone:
                raise OSError("would not hold for other threads")
            return apply[layer]()
        except (OSError, ValueError) as problem:
            return f"none: {problem}"

    return {layer: attempt(layer) for layer in LAYERS if layer in layers}


def _one_thread() -> bool:
    """Whether this process has only one thread; False if that cannot be found out."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 2, 4, 38

_NAMESPACES = {"user": 1 << 28, "net": 1 << 30, "mount": 1 << 17, "ipc": 1 << 27, "uts": 1 << 26}

_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 1, 2, 4, 8, 1 << 14, 1 << 18
_MNT_DETACH = 2

_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _call(function: str, *arguments: object) -> int:
    """Call a function of the C library and return its result. Raises `OSError` for a negative one."""
    # ctypes would pass an int as 32 bits, but prctl and syscall read 64.
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = getattr(_libc, function)(*wide)
    if result < 0:
        raise OSError(f"{function}: {os.strerror(ctypes.get_errno())}")
    return result


def _prctl(option: int, argument: object) -> None:
    _call("prctl", option, argument, 0, 0, 0)


def _namespaces() -> str:
    # No user is mapped into the user namespace: the process runs as "nobody" in it. That needs no /proc.
    _call("unshare", sum(_NAMESPACES.values()))
    return " ".join(_NAMESPACES)


def _empty_root() -> str:
    # This makes a further mount namespace. Without it, if `_namespaces` was refused and root runs the
    # engine, the steps below would replace the root folder of the whole machine.
    _call("unshare", _NAMESPACES["mount"])
    _call("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    bare = _MS_RDONLY | _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    _call("mount", b"none", b"/tmp", b"tmpfs", bare, b"size=4k,mode=555")
    os.chdir("/tmp")
    _call("pivot_root", b".", b".")  # the old root now lies on top of the new one
    _call("umount2", b".", _MNT_DETACH)
    os.chdir("/")
    return "empty"


def _no_privileges() -> str:
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _call("capset", struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), bytes(24))
    _prctl(_PR_SET_DUMPABLE, 0)
    return "dropped, no new ones, not dumpable"


def _death_signal() -> str:
    # The signal is read back from the kernel because a change of credentials can clear it.
    number = ctypes.c_int()
    _prctl(_PR_GET_PDEATHSIG, ctypes.byref(number))
    if not number.value:
        raise OSError("die_with_parent was not called")
    return signal.Signals(number.value).name


_LANDLOCK_CREATE_RULESET, _LANDLOCK_RESTRICT_SELF = 444, 446  # on every architecture
_LANDLOCK_CREATE_RULESET_VERSION = 1
_LANDLOCK_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many, by ABI version; later 16


def _landlock() -> str:
    abi = _call("syscall", _LANDLOCK_CREATE_RULESET, None, 0, _LANDLOCK_CREATE_RULESET_VERSION)
    files = (1 << _LANDLOCK_FILE_RIGHTS.get(abi, 16)) - 1
    network = 0b11 if abi >= 4 else 0  # bind and connect
    scopes = 0b11 if abi >= 6 else 0  # abstract sockets and signals
    handled = struct.pack("=QQQ", files, network, scopes)
    ruleset = _call("syscall", _LANDLOCK_CREATE_RULESET, handled, len(handled), 0)
    try:
        _prctl(_PR_SET_NO_NEW_PRIVS, 1)
        _call("syscall", _LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)
    return f"abi {abi}"


def _limits(memory: int) -> str:
    # RLIMIT_AS is not set: wasmtime reserves 4 GiB of addresses for each memory and uses few of them.
    # A limit of no descriptors (NOFILE) forbids only new ones: open descriptors stay open.
    wanted = dict.fromkeys(("CORE", "FSIZE", "NOFILE", "NPROC", "MEMLOCK"), 0) | {"DATA": memory}
    held = []
    for name, value in wanted.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limit, limit))
        held.append(f"{name.lower()} {limit}")
    return ", ".join(held)


_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""By machine: its column in the tables of system calls below, and the kernel's AUDIT_ARCH constant for it."""

_STDERR = 2
_READ, _WRITE, _MMAP, _MPROTECT, _SECCOMP = (0, 63), (1, 64), (9, 222), (10, 226), (317, 277)

_HARMLESS = {
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),  # without it, wasmtime's handler would repeat a real crash forever
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "sched_yield": (24, 124),
    "futex": (202, 98),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),  # a system call where user space cannot read the clock
    "getrandom": (318, 278),
    "exit": (60, 93),
    "exit_group": (231, 94),
}

_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1

_Code = list[tuple[int, int, int]]
"""Instructions of the kernel's filter machine (BPF).

Each has an operation, an operand, and the number of instructions to skip if a test is false.
"""

_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in the data that the filter reads
# Only the low 32 bits of an argument are read: descriptors, protections and flags have no others.
_FIRST, _THIRD, _FOURTH = 16, 32, 40

_ALLOW: _Code = [(_RETURN, 0x7FFF0000, 0)]
_REFUSE: _Code = [(_RETURN, 0x00050000 | errno.EPERM, 0)]
_KILL: _Code = [(_RETURN, 0x80000000, 0)]


def _load(offset: int) -> _Code:
    """Return code that loads the value at this offset, which the tests after it read."""
    return [(_LOAD, offset, 0)]


def _when(test: int, operand: int, then: _Code) -> _Code:
    """Return code that runs `then` if the loaded value passes the test, and skips it otherwise."""
    return [(test, operand, len(then)), *then]


def _filter(channel: tuple[int, ...], machine: str) -> _Code:
    """Return the filter: it refuses all system calls but those below, and kills a process of another architecture."""
    column, architecture = _MACHINES[machine]

    def call(numbers: tuple[int, int], then: _Code) -> _Code:
        return _when(_EQUAL, numbers[column], then)

    def only_on(*files: int) -> _Code:
        return _load(_FIRST) + [i for file in files for i in _when(_EQUAL, file, _ALLOW)] + _REFUSE

    not_executable = _load(_THIRD) + _when(_ANY_BIT, mmap.PROT_EXEC, _REFUSE)
    not_shared = _load(_FOURTH) + _when(_ANY_BIT, mmap.MAP_SHARED, _REFUSE)
    calls = [
        call(_READ, only_on(*channel)),
        call(_WRITE, only_on(*channel, _STDERR)),
        call(_MMAP, not_executable + not_shared + _ALLOW),
        call(_MPROTECT, not_executable + _ALLOW),
        *(call(numbers, _ALLOW) for numbers in _HARMLESS.values()),
    ]
    body = _load(_NUMBER) + [i for code in calls for i in code] + _REFUSE
    return _load(_ARCHITECTURE) + _when(_EQUAL, architecture, body) + _KILL


def _seccomp(channel: tuple[int, ...], machine: str) -> str:
    if machine not in _MACHINES:
        raise OSError(f"no table of system calls for {machine}")
    code = _filter(channel, machine)
    packed = b"".join(struct.pack("=HBBI", op, 0, skip, operand) for op, operand, skip in code)
    buffer = ctypes.create_string_buffer(packed)
    program = struct.pack("@HP", len(code), ctypes.addressof(buffer))
    number = _SECCOMP[_MACHINES[machine][0]]
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    # The filter applies to all threads or to none: a positive result is a thread that prevented it.
    if _call("syscall", number, _SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC, program):
        raise OSError("not for all threads")
    return f"{len(code)} instructions"
