"""Hostile programs, each with the fault that it must have. None means that it plays on and nothing happens."""

import json
from textwrap import dedent

HOSTILE: dict[str, tuple[str | None, str]] = {}
ANY = "any fault or none"
"""What comes of reading the interpreter's memory at random depends on the image."""


def hostile(fault: str | None, name: str, source: str) -> None:
    """Add a program."""
    assert name not in HOSTILE
    HOSTILE[name] = fault, dedent(source)


def statement(fault: str | None, name: str, text: str) -> None:
    """Add a program that does something and then cooperates, if it gets that far."""
    lines = dedent(text).strip().splitlines()
    body = "".join(f"    {line}\n" for line in lines)
    hostile(fault, name, f"def act(view):\n{body}    return 'C'\n")


def returning(fault: str | None, name: str, value: str, before: str = "") -> None:
    """Add a program that returns a value."""
    hostile(fault, name, f"{dedent(before)}\ndef act(view):\n    return {value}\n")


# Ways out of the interpreter

statement(
    "error",
    "os.system by way of object's subclasses",
    """
    for kind in object.__subclasses__():
        if kind.__name__ == "_wrap_close":
            kind.__init__.__globals__["system"]("touch pwned")
""",
)
statement(
    "error",
    "a pickle that names os.system",
    """
    import pickle
    pickle.loads(b"cos\\nsystem\\n(S'touch pwned'\\ntR.")
""",
)
statement(
    "error",
    "ctypes",
    """
    import ctypes
    ctypes.CDLL(None).system(b"touch pwned")
""",
)
statement(
    "error",
    "a raw system call",
    """
    import ctypes
    ctypes.PyDLL(None).syscall(41, 2, 1, 0)
""",
)
statement("error", "_posixsubprocess", "import _posixsubprocess")
statement("error", "subprocess", "import subprocess\nsubprocess.run(['touch', 'pwned'])")
statement("error", "os.popen", "import os\nos.popen('touch pwned')")
statement("error", "os.posix_spawn", "import os\nos.posix_spawn('/bin/sh', [], {})")
statement("error", "os.execv", "import os\nos.execv('/bin/sh', ['sh'])")
statement("error", "a fork bomb", "import os\nwhile True: os.fork()")
statement(
    "error",
    "threads",
    """
    import threading
    threading.Thread(target=print).start()
""",
)
statement("error", "_thread", "import _thread\n_thread.start_new_thread(print, ())")
statement("error", "multiprocessing", "import multiprocessing")
statement("error", "asyncio", "import asyncio")
statement("error", "concurrent.futures", "import concurrent.futures")
statement("error", "numpy", "import numpy")
statement("error", "os.kill", "import os\nos.kill(1, 9)")
statement("error", "signal", "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)")
statement("error", "a signal raised in the interpreter", "import _signal\n_signal.raise_signal(2)")
statement("error", "resource", "import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))")
statement("error", "executable memory", "import mmap\nmmap.mmap(-1, 4096, prot=7)")
statement(None, "an exit handler", "import atexit\natexit.register(print, 'late')")

# Files

statement("error", "open a file", "open('/etc/passwd').read()")
statement("error", "write a file", "open('pwned', 'w').write('x')")
statement("error", "io.open", "import io\nio.open('/etc/passwd')")
statement("error", "_io.open", "import _io\n_io.open('/etc/passwd')")
statement("error", "_io.FileIO on a descriptor", "import _io\n_io.FileIO(0)")
statement("error", "posix.open", "import posix\nposix.open('/etc/passwd', 0)")
statement("error", "the environment in /proc", "open('/proc/self/environ', 'rb').read()")
statement("error", "the memory in /proc", "open('/proc/self/mem', 'r+b')")
statement("error", "os.listdir", "import os\nos.listdir('/')")
statement("error", "os.stat", "import os\nos.stat('/')")
statement("error", "os.getcwd", "import os\nos.getcwd()")
statement("error", "os.getpid", "import os\nos.getpid()")
statement("error", "tokenize.open", "import tokenize\ntokenize.open('/etc/passwd')")
statement("error", "pathlib", "import pathlib")
statement("error", "tempfile", "import tempfile")
statement("error", "standard input", "input()")
statement("error", "a breakpoint", "breakpoint()")
statement(None, "linecache", "import linecache\nassert not linecache.getlines('/etc/passwd')")
statement(None, "help, licence and credits", "repr(help), repr(license), repr(credits)")

# The channel to the engine

statement("error", "write to standard output", "import os\nos.write(1, b'x')")
statement("error", "write garbage to the channel", "import os\nos.write(3, b'\\xff' * 64)")
statement("error", "forge a frame", "import os\nos.write(3, b'\\x02\\0\\0\\0[]')")
statement("error", "announce a huge frame", "import os\nos.write(3, b'\\xff\\xff\\xff\\x3f')")
statement("error", "close the channel", "import os\nos.closerange(0, 20)")
statement("error", "duplicate the channel", "import os\nos.dup(1)")
statement("fuel", "print megabytes", "for _ in range(200): print('x' * 10**6)")
statement(
    None,
    "print in silence",
    """
    import sys
    sys.stdout.write("x" * 10**6)
    sys.stderr.write("x" * 10**6)
    print("x", file=sys.__stderr__)
""",
)

# The network

statement("error", "socket", "import socket\nsocket.create_connection(('127.0.0.1', PORT))")
statement("error", "_socket", "import _socket\n_socket.socket().connect(('127.0.0.1', PORT))")
statement("error", "the name of the host", "import _socket\n_socket.gethostname()")
statement("error", "ssl", "import ssl")
statement("error", "http", "import http.client")
statement("error", "urllib", "import urllib.request")
statement("crash", "select", "import select\nselect.select([], [], [], 0)")

# Time and chance

statement(None, "sleep", "import time\ntime.sleep(60)")
statement(None, "the clock", "import time\nassert time.time() == time.monotonic() == 1e9")
statement("error", "entropy", "import os\nos.urandom(8)")
statement("error", "secrets", "import secrets\nsecrets.token_hex()")
statement("error", "a random UUID", "import uuid\nuuid.uuid4()")
statement("crash", "entropy that C code asks for", "import _random\n_random.Random()")
statement(
    "crash",
    "the clock that C code asks for",
    """
    import threading
    threading.Event().wait(1)
""",
)

# Without end

hostile("fuel", "an endless loop", "def act(view):\n    while True: pass\n")
hostile("fuel", "an endless loop at load", "while True: pass\n")
hostile(
    "fuel",
    "an endless loop that swallows everything",
    """
    def act(view):
        while True:
            try:
                while True: pass
            except BaseException: pass
""",
)
statement("fuel", "a number of a hundred million digits", "(10 ** 10 ** 8).bit_length()")
statement(
    "fuel", "a regular expression that backtracks", "import re\nre.match('(a+)+$', 'a' * 40 + 'b')"
)
statement("fuel", "a sum over a billion numbers", "sum(range(10 ** 9))")
statement("fuel", "a long sort", "sorted(range(10 ** 6, 0, -1), key=str)")
statement(
    "fuel", "a source that is slow to compile", "compile('(1' + '+1' * 50_000 + ')', '', 'eval')"
)
statement("fuel", "an iterator without end", "import itertools\nlist(itertools.count())")

# The stack

hostile("error", "recursion", "def act(view):\n    return act(view)\n")
hostile(
    "fuel",
    "recursion with the limit raised",
    """
    import sys
    sys.setrecursionlimit(10 ** 9)

    def act(view):
        return act(view)
""",
)
statement(
    "fuel",
    "a deeply nested value that is shown",
    """
    import sys
    sys.setrecursionlimit(10 ** 9)
    value = []
    for _ in range(10 ** 5):
        value = [value]
    repr(value)
""",
)
hostile(
    "crash",
    "a source that is nested too deep",
    f"def act(view):\n    return {'[' * 150}{']' * 150}\n",
)
hostile(
    "crash", "a sum that is too long to compile", f"def act(view):\n    return 1{' + 1' * 5_000}\n"
)
returning(
    "illegal",
    "recursion in __repr__",
    "Endless()",
    """
    class Endless:
        def __repr__(self): return repr(self)
        __str__ = __format__ = __repr__
""",
)
hostile(
    "crash",
    "recursion in the text of an exception",
    """
    class Endless(Exception):
        def __str__(self): return str(self)

    def act(view):
        raise Endless
""",
)

# Memory

statement("error", "a text of ten billion characters", "'a' * 10 ** 10")
statement("memory", "a text of a billion characters", "'a' * 10 ** 9")
statement(
    "memory",
    "a list that grows",
    """
    held = []
    while True:
        held.append(bytearray(1 << 20))
""",
)
statement(
    None,
    "a list that grows, and is let go",
    """
    held = []
    try:
        while True:
            held.append(bytearray(1 << 20))
    except MemoryError:
        held.clear()
""",
)
hostile(
    "memory", "a list that grows at load", "held = [bytearray(1 << 20) for _ in range(10 ** 6)]\n"
)
hostile("memory", "a MemoryError of its own", "def act(view):\n    raise MemoryError\n")

# Values that are returned

returning("illegal", "nothing", "None")
returning("illegal", "a list", "['C']")
returning("illegal", "another move", "'E'")
returning("illegal", "a move in bytes", "b'C'")
returning("illegal", "ten megabytes", "'C' * (10 << 20)")
returning("illegal", "a number of a hundred thousand digits", "1 << 400_000")
returning("illegal", "not a number", "float('nan')")
returning("illegal", "half a surrogate pair", "'\\ud800'")
returning("illegal", "a subclass of str", "Text('C')", "class Text(str): pass")
returning("illegal", "a generator", "(move for move in 'C')")
returning("illegal", "an exception that is not raised", "ValueError('C')")
returning(
    "illegal",
    "an object that says it is C",
    "Liar()",
    """
    class Liar:
        __class__ = str
        def __eq__(self, other): return True
        def __hash__(self): return hash("C")
        def __str__(self): return "C"
        __repr__ = __str__
""",
)
returning(
    "illegal",
    "an object whose class says it is str",
    "Liar()",
    """
    class Kind(type):
        def __eq__(self, other): return True
        def __hash__(self): return hash(str)
        __name__ = property(lambda self: 1 / 0)

    class Liar(metaclass=Kind):
        def __eq__(self, other): return True
        def __hash__(self): return hash("C")
""",
)
returning(
    "illegal",
    "an object that cannot be compared, hashed or shown",
    "Sore()",
    """
    class Sore:
        def __eq__(self, other): raise SystemExit
        __hash__ = __repr__ = __str__ = __bool__ = __len__ = __eq__
""",
)
returning(
    "illegal",
    "an object that pickles as code",
    "Loaded()",
    """
    class Loaded:
        def __reduce__(self): return (eval, ("1 / 0",))
""",
)
returning("illegal", "what a simulation failed with", "view.simulate('1 / 0')")

# Values of `act`

hostile("load", "an empty file", "")
hostile("load", "a file without a bot", "x = 1\n")
hostile("load", "a file that does not parse", "def act(view:\n")
hostile("load", "a file that raises", "1 / 0\n")
hostile("load", "a file that exits", "raise SystemExit\n")
hostile(
    "load",
    "a Bot that raises",
    """
    class Bot:
        def __init__(self): 1 / 0
        def act(self, view): return "C"
""",
)
hostile("load", "a Bot without act", "class Bot: pass\n")
hostile("illegal", "act is a class", "class act:\n    def __init__(self, view): pass\n")
hostile("illegal", "act is a coroutine", "async def act(view): return 'C'\n")
hostile("illegal", "act is a generator", "def act(view): yield 'C'\n")
hostile("illegal", "act is an asynchronous generator", "async def act(view): yield 'C'\n")
hostile(None, "act is a lambda", "act = lambda view: 'C'\n")
hostile(
    None, "act is a bound method", "act = {None: 'C'}.get\nact = lambda view, get=act: get(None)\n"
)
hostile("error", "act is a number", "act = 1\n")
hostile("error", "act takes nothing", "def act(): return 'C'\n")
hostile("error", "act takes too much", "def act(view, more): return 'C'\n")

# Exceptions that are raised

for raised in (
    "SystemExit(3)",
    "KeyboardInterrupt",
    "GeneratorExit",
    "StopIteration",
    "BaseException",
):
    statement("error", f"raise {raised}", f"raise {raised}")
statement("error", "sys.exit", "import sys\nsys.exit(3)")
statement("error", "os._exit", "import os\nos._exit(3)")
statement("error", "os.abort", "import os\nos.abort()")
statement("error", "an exception in halves of surrogate pairs", "raise ValueError('\\ud800' * 10)")
statement("error", "an exception of ten megabytes", "raise ValueError('x' * (10 << 20))")
statement("error", "an exception of many lines", "raise ValueError('\\n' * 10_000)")
statement("error", "a group of exceptions", "raise BaseExceptionGroup('x', [SystemExit()])")
hostile(
    "error",
    "an exception whose text raises",
    """
    class Sore(Exception):
        def __str__(self): raise SystemExit
        __repr__ = __str__

    def act(view):
        raise Sore
""",
)
hostile(
    "fuel",
    "an exception whose text loops",
    """
    class Endless(Exception):
        def __str__(self):
            while True: pass

    def act(view):
        raise Endless
""",
)
hostile(
    "error",
    "an exception that says it is a MemoryError",
    """
    class Liar(Exception):
        __class__ = MemoryError

    def act(view):
        raise Liar
""",
)
hostile(
    "error",
    "an exception that is its own cause",
    """
    def act(view):
        error = ValueError()
        error.__cause__ = error.__context__ = error
        raise error
""",
)

# The harness

statement(
    ANY,
    "bytecode that is none",
    """
    code = (lambda: 1).__code__.replace(co_code=b"d\\xff" * 50, co_consts=())
    exec(code)
""",
)
statement(None, "all objects", "import gc\ngc.get_objects()")
statement(
    None,
    "all frames",
    """
    import sys
    frame = sys._getframe()
    while frame: frame = frame.f_back
""",
)
statement(
    None,
    "an object that does not die",
    """
    class Zombie:
        def __del__(self):
            view.mine.append(self)
            view.mine.pop()
    Zombie()
""",
)
statement(
    "crash",
    "objects that leave others behind",
    """
    class Zombie:
        def __del__(self): Zombie()
    Zombie()
""",
)
statement(
    None,
    "builtins, json and random replaced",
    """
    import builtins, json, random
    builtins.len = lambda value: 0
    json.dumps = json.loads = None
    random.random = lambda: 0.5
""",
)
statement(
    "crash",
    "what the harness calls replaced",
    """
    import sys
    sys.modules["group"].zip = sys.modules["group"].map = None
""",
)
statement(
    "error",
    "a tracer",
    """
    import sys
    def trace(frame, event, argument): raise KeyboardInterrupt
    sys.settrace(trace)
    len("x")
    (lambda: 1)()
""",
)
statement(None, "the history rewritten", "view.mine.clear()\nview.history.append(0)")
statement("error", "a simulation of nonsense", "view.simulate('def act(view:', fuel=-1)")
statement("crash", "a request that is none", "import wit_world\nwit_world.host('source x')")
statement("crash", "a request that is no text", "import wit_world\nwit_world.host(1)")
statement(
    "crash", "a request in half a surrogate pair", "import wit_world\nwit_world.host('\\ud800')"
)
statement("crash", "a program that is not there", "import wit_world\nwit_world.host('source 99')")
statement("crash", "a program before the first", "import wit_world\nwit_world.host('source -1')")
statement("crash", "a simulation that is none", "import wit_world\nwit_world.host('simulate {}')")
hostile(
    None,
    "requests at load",
    """
    import wit_world

    for request in ("simulate {}", "proves {}", "source", "source 0", "nonsense", ""):
        assert wit_world.host(request) == ""

    def act(view):
        return "C"
    """,
)

# The powers

statement("crash", "a simulation of half a surrogate pair", "view.simulate('\\ud800')")
statement("error", "a simulation of a long text", "view.simulate('#' * (300 << 10))")
statement("fuel", "simulations without end", "while True: view.simulate('1 / 0')")
statement(
    "fuel",
    "simulations of ever new programs",
    """
    for n in range(10_000):
        view.simulate(f"def act(view): return view.legal[0]  # {n}")
    """,
)
statement(
    "fuel", "a simulation after a long history", "view.simulate(history=[('C', 'C')] * 200_000)"
)
statement(
    "fuel", "a simulation of a loop", "view.simulate('def act(view):\\n    while True: pass')"
)
statement("fuel", "a simulation of a loop at load", "view.simulate('while True: pass')")
statement(
    None,
    "simulations of what breaks",
    """
    hog = "held = [0] * (1 << 26)"
    breaks = "import select\\ndef act(view): select.select([], [], [], 0)"
    assert view.simulate(hog) is view.simulate(breaks) is view.ERROR
    """,
)
statement(
    "crash",
    "a simulation of a program by its digest",
    """
    view.them._text.digest = view.me.digest[::-1]
    view.simulate()
    """,
)
statement("error", "a statement that is none", "view.proves('x' * 1_000)")
statement("error", "a statement with brackets without end", "view.proves('(' * 5_000)")
statement(
    "error",
    "a statement of five thousand negations",
    "view.proves('not ' * 5_000 + 'them(me) == C')",
)
statement("error", "a statement of an endless level", "view.proves('them(me) == C', 10 ** 9)")
statement(
    "error", "a long statement", "view.proves('them(me) == C and ' * 20_000 + 'them(me) == C')"
)


def asked(**request: object) -> str:
    """Return a request for a proof as a guest makes it, except for the given fields."""
    usual = {"match": 0, "drew": False, "here": [], "statement": "them(me) == C", "level": 0}
    return "proves " + json.dumps(usual | request)


for fault, name, request in [
    (None, "an honest request", asked()),
    ("crash", "a request in a list", "proves []"),
    ("crash", "a request without its parts", "proves {}"),
    ("crash", "a request that is nested too deep", "proves " + "[" * 10_000),
    ("crash", "a request for an unknown power", "fly {}"),
    ("crash", "a request about another match", asked(match=9)),
    ("crash", "a request about no match", asked(match=-1)),
    ("crash", "a request about a match that is no number", asked(match=True)),
    ("crash", "a request after a round of too many", asked(here=["000"])),
    ("crash", "a request for a level that is none", asked(level=1.0)),
]:
    statement(fault, name, f"import wit_world\nwit_world.host({request!r})")
