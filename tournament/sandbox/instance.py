"""Runs one program in one WebAssembly instance. Only this module hands a bot's source to an interpreter."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from wasmtime import Config, Engine, Store, Trap, WasmtimeError
from wasmtime.component import Component, Linker

from tournament.errors import ImageError
from tournament.sandbox.limits import Limits

EMPTY_GAME: dict[str, Any] = {
    "name": "",
    "parameters": {},
    "moves": [["", ""]],
    "payoffs": None,
    "rounds": 1,
    "continuation": None,
    "discount": 1.0,
    "noise": 0.0,
}
EXPORTS = ("load", "play", "drop", "stateless")
MOST_READ = 1_000
"""The number of programs for which an image remembers whether they are stateless."""
Host = Callable[["Instance", str], str]
"""A function that answers a request which the guest of an instance makes of its host."""


class Ended(Exception):
    """Raised when a call ends its instance, which cannot be used again.

    `kind` is the kind of fault. `spent` is the fuel used by the call, and `fuel_used` the fuel used by the instance in
    all of its calls; both include the fuel charged.
    """

    def __init__(self, kind: str, message: str, spent: int = 0, fuel_used: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.spent = spent
        self.fuel_used = fuel_used


@cache
def engine() -> Engine:
    """Return the engine that compiles and runs images: it counts fuel, and floats are the same on every processor."""
    config = Config()
    config.consume_fuel = True
    config.wasm_component_model = True
    config.cranelift_nan_canonicalization = True
    # With Mach ports a thread would handle the traps, and threads do not survive the fork of a worker.
    config.macos_use_mach_ports = False
    return Engine(config)


def _no_answer(instance: "Instance", request: str) -> str:
    """Answer with an empty text: the host for calls in which the guest has nothing to ask."""
    return ""


class Image:
    """A compiled image that is loaded and can make instances. Raises `ImageError` if it does not fit this machine."""

    def __init__(self, compiled: Path) -> None:
        try:
            self._component = Component.deserialize_file(engine(), str(compiled))
        except WasmtimeError as error:
            raise ImageError(f"{compiled} does not fit this machine: remove it") from error
        self._running: list[tuple[Instance, Host]] = []
        self._reader: Instance | None = None
        self._types: dict[str, SimpleNamespace] = {}
        self.stateless = lru_cache(MOST_READ)(self._stateless)
        """Whether the text of a program shows that it is stateless; False in cases of doubt."""
        self.tick: Callable[[], None] = lambda: None
        """Called before every call into an instance."""
        self._linker = Linker(engine())
        with self._linker.root() as root:
            root.add_func("host", lambda store, request: self._answer(request))

    def instance(self, source: str, setup: dict[str, Any], limits: Limits) -> "Instance":
        """Return a new instance that has loaded the source for the matches of `setup`.

        Raises `Ended` if loading ends it.
        """
        return Instance(self, source, setup, limits)

    def warm(self) -> None:
        """Make an instance, so that work done only for the first one is done before the process is locked down."""
        self._empty()

    def _empty(self) -> "Instance":
        """Return a new instance with an empty program and no matches."""
        return self.instance("", {"game": EMPTY_GAME, "matches": []}, Limits())

    def _stateless(self, source: str) -> bool:
        # Even to parse the text of a bot is left to the sandbox, but to an instance in which no bot runs.
        if self._reader:
            with suppress(Ended):
                return self._reader.stateless(source)
        self._reader = self._empty()
        try:
            return self._reader.stateless(source)
        except Ended:
            self._reader = None
            return False

    def instantiate(self, store: Store) -> dict[str, Any]:
        """Make an instance in `store` and return its exports by name."""
        instance = self._linker.instantiate(store, self._component)
        return {name: self._typed(name, instance.get_func(store, name), store) for name in EXPORTS}

    def _typed(self, name: str, export: Any, store: Store) -> Any:
        """Return an export with a cached type: wasmtime looks it up in every call, which takes longer than the call."""
        if name not in self._types:
            known = export.type(store)
            self._types[name] = SimpleNamespace(params=known.params, result=known.result)
        export.type = lambda store: self._types[name]
        return export

    def enter(self, instance: "Instance", host: Host) -> None:
        """Note that a call into an instance begins, whose requests this host answers.

        Calls nest but never overlap, so the instance that was entered last is the one that makes requests.
        """
        self.tick()
        self._running.append((instance, host))

    def leave(self) -> None:
        """Note that the call that was entered last has ended."""
        self._running.pop()

    def _answer(self, request: str) -> str:
        instance, host = self._running[-1]
        return host(instance, request)


class Instance:
    """An instance with a loaded program.

    `fuel_used` is the fuel used so far in all calls, including all fuel charged. `charged` is the fuel charged so far
    for the requests of the program. `spent` is the fuel that the last call used itself, plus the fuel charged in it;
    where that was charged to several matches, only the match with the highest charge counts.
    """

    def __init__(self, image: Image, source: str, setup: dict[str, Any], limits: Limits) -> None:
        self._image = image
        self._limits = limits
        self.fuel_used = self.charged = self.spent = 0
        self._accounts: dict[int, int] = {}
        self._most = 0
        self._store = Store(engine())
        self._store.set_limits(memory_size=limits.memory)
        self._store.set_fuel(limits.fuel)
        self._exports = image.instantiate(self._store)
        with self._called("load") as export:
            export(self._store, source, json.dumps(setup))

    def play(self, lines: str, host: Host, fuel: int | None = None) -> str:
        """Return the guest's answers to these lines, one for each line (see `bot.wit`). Raises `Ended`.

        A line asks every match for one move. The call has `fuel`, or by default the fuel of the limits.
        """
        with self._called("play", host, fuel) as export:
            return str(export(self._store, lines))

    def drop(self, positions: list[int]) -> str:
        """End the matches at these positions; return what was read in each (see `bot.wit`). Raises `Ended`."""
        with self._called("drop") as export:
            return str(export(self._store, json.dumps(positions)))

    def restart(self, setup: dict[str, Any], fuel: int) -> None:
        """End the present matches and start those of another setup, with so much fuel. Raises `Ended`."""
        with self._called("load", fuel=fuel) as export:
            export(self._store, "", json.dumps(setup))

    def stateless(self, source: str) -> bool:
        """Whether the text of a program shows that it is stateless; False in cases of doubt. Raises `Ended`."""
        with self._called("stateless") as export:
            return bool(export(self._store, source))

    @property
    def fuel(self) -> int:
        """The fuel that is left in the present call."""
        return int(self._store.get_fuel())

    @contextmanager
    def account(self, match: int) -> Iterator[None]:
        """Charge fuel to this match of the present call, for as long as the block lasts.

        Matches do not pay for each other: the fuel of a call need only cover what the call uses itself, plus what is
        charged to the match with the highest charge.
        """
        most, own, before = self._most, self._accounts.get(match, 0), self.charged
        self._store.set_fuel(self.fuel + most - own)
        try:
            yield
        finally:
            self._accounts[match] = own = own + self.charged - before
            self._most = max(most, own)
            self._store.set_fuel(self.fuel + own - self._most)

    def charge(self, fuel: int) -> None:
        """Take fuel from the present call. If none is left, the call ends as soon as the guest continues."""
        taken = min(fuel, self.fuel)
        self.charged += taken
        self._store.set_fuel(self.fuel - taken)

    @contextmanager
    def _called(self, name: str, host: Host = _no_answer, fuel: int | None = None) -> Iterator[Any]:
        """Yield an export for one call, which gets its fuel and is counted. Raises `Ended` if it ends the instance."""
        export = self._exports[name]
        given = self._limits.fuel if fuel is None else fuel
        self._accounts, self._most = {}, 0
        self._image.enter(self, host)
        self._store.set_fuel(given)
        try:
            yield export
            export.post_return(self._store)
            return
        except (Trap, WasmtimeError) as error:
            ended = _ended(str(error))
        except Ended as refused:  # raised by the host in the middle of the call
            ended = refused
        finally:
            self._image.leave()
            self.spent = given - self.fuel
            self.fuel_used += self.spent + sum(self._accounts.values()) - self._most
        raise Ended(ended.kind, ended.message, self.spent, self.fuel_used)


def _ended(problem: str) -> Ended:
    """Return the exception for the message of a WebAssembly trap."""
    if "all fuel consumed" in problem:
        return Ended("fuel", "ran out of fuel")
    reason = problem.strip().rpartition("wasm trap: ")[2]
    return Ended("crash", f"ended its interpreter: {reason}")
