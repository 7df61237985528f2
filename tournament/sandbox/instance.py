"""One program in one WebAssembly instance: the only place that hands a bot's source to an interpreter."""

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
EXPORTS = ("load", "play", "drop", "plain")
MOST_READ = 1_000
"""Of so many programs an image remembers whether they are plain."""
Host = Callable[["Instance", str], str]
"""Answers what the guest of an instance asks of its host."""


class Ended(Exception):
    """The instance came to its end in a call: the kind of fault, and the fuel used by the call and by the instance."""

    def __init__(self, kind: str, message: str, spent: int = 0, burnt: int = 0) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.spent = spent
        self.burnt = burnt


@cache
def engine() -> Engine:
    """The settings under which images are compiled and run: fuel counted, floats the same on every processor."""
    config = Config()
    config.consume_fuel = True
    config.wasm_component_model = True
    config.cranelift_nan_canonicalization = True
    # A thread that handles traps would not be there any more in a worker that is forked.
    config.macos_use_mach_ports = False
    return Engine(config)


def _deaf(instance: "Instance", request: str) -> str:
    """The host of a guest that has nothing to ask yet."""
    return ""


class Image:
    """A compiled image, ready to make instances."""

    def __init__(self, compiled: Path) -> None:
        try:
            self._component = Component.deserialize_file(engine(), str(compiled))
        except WasmtimeError as error:
            raise ImageError(f"{compiled} does not fit this machine: remove it") from error
        self._running: list[tuple[Instance, Host]] = []
        self._reader: Instance | None = None
        self._types: dict[str, SimpleNamespace] = {}
        self.plain = lru_cache(MOST_READ)(self._plain)
        """Whether a program keeps nothing between its moves, for all that its text shows."""
        self.tick: Callable[[], None] = lambda: None
        """Called before every call into an instance."""
        self._linker = Linker(engine())
        with self._linker.root() as root:
            root.add_func("host", lambda store, request: self._answer(request))

    def instance(self, source: str, setup: dict[str, Any], limits: Limits) -> "Instance":
        """A fresh instance that has loaded the source for the matches of `setup`.

        Raises `Ended` if loading ends it.
        """
        return Instance(self, source, setup, limits)

    def warm(self) -> None:
        """Do now what the first instance would do once: so that a locked-down process need not."""
        self._empty()

    def _empty(self) -> "Instance":
        return self.instance("", {"game": EMPTY_GAME, "matches": []}, Limits())

    def _plain(self, source: str) -> bool:
        # Text of a bot is read in the sandbox too, but in an instance in which no bot runs.
        if self._reader:
            with suppress(Ended):
                return self._reader.plain(source)
        self._reader = self._empty()
        try:
            return self._reader.plain(source)
        except Ended:
            self._reader = None
            return False

    def instantiate(self, store: Store) -> dict[str, Any]:
        """The exports of a new instance in `store`."""
        instance = self._linker.instantiate(store, self._component)
        return {name: self._typed(name, instance.get_func(store, name), store) for name in EXPORTS}

    def _typed(self, name: str, export: Any, store: Store) -> Any:
        """An export, with its type at hand: it is asked for in every call, and that takes longer than to call."""
        if name not in self._types:
            known = export.type(store)
            self._types[name] = SimpleNamespace(params=known.params, result=known.result)
        export.type = lambda store: self._types[name]
        return export

    def enter(self, instance: "Instance", host: Host) -> None:
        """From now on what is asked is asked by this instance, of this host: calls nest, but never overlap."""
        self.tick()
        self._running.append((instance, host))

    def leave(self) -> None:
        """The instance entered last has answered."""
        self._running.pop()

    def _answer(self, request: str) -> str:
        instance, host = self._running[-1]
        return host(instance, request)


class Instance:
    """A loaded program.

    `burnt` is the fuel it has used so far, `charged` what was taken from it for what it asked, `spent` what its last
    call used, or what was taken from it: of what was taken for one match or another, the most.
    """

    def __init__(self, image: Image, source: str, setup: dict[str, Any], limits: Limits) -> None:
        self._image = image
        self._limits = limits
        self.burnt = self.charged = self.spent = 0
        self._accounts: dict[int, int] = {}
        self._most = 0
        self._store = Store(engine())
        self._store.set_limits(memory_size=limits.memory)
        self._store.set_fuel(limits.fuel)
        self._exports = image.instantiate(self._store)
        self._call("load", source, json.dumps(setup))

    def play(self, lines: str, host: Host, fuel: int | None = None) -> str:
        """What the guest answers to these rounds (see `bot.wit`), on all of its fuel or so much. Raises `Ended`."""
        return str(self._call("play", lines, host=host, fuel=fuel))

    def drop(self, positions: list[int]) -> str:
        """End the matches at these positions: at what their program has looked (see `bot.wit`). Raises `Ended`."""
        return str(self._call("drop", json.dumps(positions)))

    def restart(self, setup: dict[str, Any], fuel: int) -> None:
        """Start the matches of another setup in the place of those before. Raises `Ended`."""
        self._call("load", "", json.dumps(setup), fuel=fuel)

    def plain(self, source: str) -> bool:
        """Whether a program keeps nothing between its moves, for all that its text shows. Raises `Ended`."""
        return bool(self._call("plain", source))

    @property
    def fuel(self) -> int:
        """What is left of the call that is being made."""
        return int(self._store.get_fuel())

    @contextmanager
    def account(self, match: int) -> Iterator[None]:
        """While this lasts, what is charged is charged to that match of the call that is being made.

        Matches do not pay for each other: a call must have enough fuel for what it uses itself, and for what is
        charged to the match that is charged most.
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
        """Take fuel from the call that is being made; one that has none left ends as soon as it goes on."""
        taken = min(fuel, self.fuel)
        self.charged += taken
        self._store.set_fuel(self.fuel - taken)

    def _call(self, name: str, *arguments: str, fuel: int | None = None, host: Host = _deaf) -> Any:
        export = self._exports[name]
        given = self._limits.fuel if fuel is None else fuel
        self._accounts, self._most = {}, 0
        self._image.enter(self, host)
        self._store.set_fuel(given)
        try:
            answer = export(self._store, *arguments)
            export.post_return(self._store)
            return answer
        except (Trap, WasmtimeError) as error:
            ended = _ended(str(error))
        except Ended as refused:  # by the host, in the middle of the call
            ended = refused
        finally:
            self._image.leave()
            self.spent = given - self.fuel
            self.burnt += self.spent + sum(self._accounts.values()) - self._most
        raise Ended(ended.kind, ended.message, self.spent, self.burnt)


def _ended(problem: str) -> Ended:
    if "all fuel consumed" in problem:
        return Ended("fuel", "ran out of fuel")
    reason = problem.strip().rpartition("wasm trap: ")[2]
    return Ended("crash", f"ended its interpreter: {reason}")
