"""One program in one WebAssembly instance: the only place that hands a bot's source to an interpreter."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from wasmtime import Config, Engine, Store, Trap, WasmtimeError
from wasmtime.component import Component, Linker

from tournament.errors import ImageError
from tournament.sandbox.limits import Limits

EMPTY_GAME = {
    "name": "",
    "parameters": {},
    "moves": [["", ""]],
    "payoffs": None,
    "rounds": 1,
    "continuation": None,
    "discount": 1.0,
    "noise": 0.0,
}
Host = Callable[[str], str]
"""Answers what the guest asks of its host."""


class Ended(Exception):
    """The instance came to its end in the middle of a call; `kind` is `fuel` or `crash`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@cache
def engine() -> Engine:
    """The settings under which images are compiled and run: fuel counted, floats the same on every processor."""
    config = Config()
    config.consume_fuel = True
    config.wasm_component_model = True
    config.cranelift_nan_canonicalization = True
    return Engine(config)


class Image:
    """A compiled image, ready to make instances."""

    def __init__(self, compiled: Path) -> None:
        try:
            self._component = Component.deserialize_file(engine(), str(compiled))
        except WasmtimeError as error:
            raise ImageError(f"{compiled} does not fit this machine: remove it") from error
        self._host: Host = lambda request: ""
        self.tick: Callable[[], None] = lambda: None
        """Called before every call into an instance."""
        self._linker = Linker(engine())
        with self._linker.root() as root:
            root.add_func("host", lambda store, request: self._host(request))

    def instance(self, source: str, setup: dict[str, Any], host: Host, limits: Limits) -> "Instance":
        """A fresh instance that has loaded the source for the matches of `setup`.

        Raises `Ended` if loading ends it.
        """
        return Instance(self, source, setup, host, limits)

    def warm(self) -> None:
        """Do now what the first instance would do once: so that a locked-down process need not."""
        self.instance("", {"game": EMPTY_GAME, "programs": [], "matches": []}, self._host, Limits())

    def instantiate(self, store: Store) -> dict[str, Any]:
        """The exports of a new instance in `store`."""
        instance = self._linker.instantiate(store, self._component)
        return {name: instance.get_func(store, name) for name in ("load", "play", "drop")}

    def serve(self, host: Host) -> Host:
        """Let `host` answer from now on, and return the one that did: calls nest, but never overlap."""
        before, self._host = self._host, host
        return before


class Instance:
    """A loaded program. `burnt` is the fuel it has used so far."""

    def __init__(
        self, image: Image, source: str, setup: dict[str, Any], host: Host, limits: Limits
    ) -> None:
        self._image = image
        self._host = host
        self._limits = limits
        self.burnt = 0
        self._store = Store(engine())
        self._store.set_limits(memory_size=limits.memory)
        self._store.set_fuel(limits.fuel)
        self._exports = image.instantiate(self._store)
        self._call("load", source, json.dumps(setup))

    def play(self, lines: str) -> str:
        """What the guest answers to these rounds (see `bot.wit`). Raises `Ended`."""
        return self._call("play", lines)

    def drop(self, positions: list[int]) -> str:
        """End the matches at these positions; "0" for each whose program looked at no tape. Raises `Ended`."""
        return self._call("drop", json.dumps(positions))

    def _call(self, name: str, *arguments: str) -> str:
        self._image.tick()
        before = self._image.serve(self._host)
        self._store.set_fuel(self._limits.fuel)
        export = self._exports[name]
        try:
            answer: str = export(self._store, *arguments)
            export.post_return(self._store)
            return answer
        except (Trap, WasmtimeError) as error:
            raise _ended(error) from None
        finally:
            self._image.serve(before)
            self.burnt += self._limits.fuel - self._store.get_fuel()


def _ended(error: Exception) -> Ended:
    text = str(error)
    if "all fuel consumed" in text:
        return Ended("fuel", "ran out of fuel")
    reason = text.strip().splitlines()[-1].removeprefix("wasm trap: ").strip()
    return Ended("crash", f"ended its interpreter: {reason}")

