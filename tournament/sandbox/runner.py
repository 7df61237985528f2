"""Runs simulated calls in WebAssembly instances of their programs, and returns the price of each call in fuel.

By rule, each call runs in a fresh instance, as a real match does. Making an instance takes longer than most calls, so
a stateless program is run in an instance that was used before, provided that its calls are short enough to have the
same fixed price in any instance. The answer and the price of a call must never depend on earlier calls: if the result
in a used instance might differ from that in a fresh one, the call is made again in a fresh instance.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tournament.sandbox.instance import Ended, Host, Image, Instance
from tournament.sandbox.limits import Limits

PRICE = 2_500_000
"""Fuel charged for an instance. Running this much fuel takes as long as making an instance."""
INCLUDED, BY_CHARACTER = 3_800_000, 100
"""Fuel that an instance may use itself without extra charge, as a base and per character of its program."""
SHORT = 1_100_000
"""The most fuel that a used instance may use itself in a call.

A fresh instance is assumed to use less than one and a half times as much for the same call.
"""
MOST_KNOWN, BESIDES = 10_000_000, 500
"""The cache of answers holds at most `MOST_KNOWN` characters; an answer counts its history and `BESIDES` more."""
TAPELESS, PUBLICLY, PRIVATELY = ("0", "4"), ("1", "5"), ("2", "3", "6", "7")
"""The guest's codes for a program that has read no tape, only the public coin, or its private tape."""
MOST_IDLE = 200
"""The most used instances that are kept. Each takes about 1.5 MB."""
ILLEGALLY = '["illegal"'
"""The text with which the fault of an illegal move begins in a guest's answer."""
DEEP, AGAIN = "deep", "again"
"""Kinds of `Ended` that end all simulated calls in progress, up to the real call.

`DEEP`: the simulations are nested too deeply. `AGAIN`: a used instance might have answered unlike a fresh one.
"""


@dataclass(frozen=True)
class Call:
    """A call to be made: the program's digest and source, the setup of its match, and one line of text per round."""

    digest: str
    source: str
    setup: dict[str, Any]
    lines: str

    @property
    def included(self) -> int:
        """The fuel that the call may use without paying more than the price of an instance."""
        return INCLUDED + BY_CHARACTER * len(self.source)

    @property
    def seen(self) -> "Seen":
        """Everything that the program can see, if it reads no tape and asks the host for nothing."""
        [[seat, lineup, *_]] = self.setup["matches"]
        return lineup, seat, self.lines, tuple(self.setup.get("shown", ()))

    @property
    def asks(self) -> bool:
        """Whether the program might ask the host for `simulate` or `proves`, judging by its source."""
        return "simulate" in self.source or "proves" in self.source


@dataclass(frozen=True)
class Done:
    """The result of a call.

    It has the guest's answer, the code of what the program has read (`looked`), the price in fuel, and in `ended` the
    kind of end if the call ended its instance.
    """

    answer: str
    looked: str
    price: int
    ended: str = ""


Seen = tuple[tuple[str, ...], int, str, tuple[str, ...]]


class Runner:
    """Runs the simulated calls of the programs of one game, and keeps used instances and known answers."""

    def __init__(self, image: Image, game: dict[str, Any], limits: Limits) -> None:
        self._image = image
        self._game = game
        self._limits = limits
        self._idle: list[tuple[str, Instance]] = []
        self._done: dict[Seen, Done] = {}
        self._size = 0

    def run(self, call: Call, fuel: int, host: Host, *, fresh: bool, final: bool) -> Done:
        """Return the result of a call whose price may be at most `fuel`.

        With `fresh`, programs that might ask the host for something always get a fresh instance. `final` says that if
        this call runs out of fuel, so do all calls in progress. Raises `Ended` of kind `DEEP` or `AGAIN`.
        """
        room = fuel - PRICE
        if room < 0:
            return Done("", "", fuel, "fuel")
        if (known := self._known(call)) and known.price < fuel:
            return known
        done = None if fresh and call.asks else self._again(call, room, host, final)
        done = done or self._afresh(call, room, host)
        return done if done.price <= fuel else Done("", "", fuel, "fuel")

    def _known(self, call: Call) -> Done | None:
        return self._done.get(call.seen)

    def _keep(self, call: Call, done: Done) -> None:
        """Cache the result of a short call, if the program read no tape and cannot have asked the host for anything."""
        if call.asks or done.looked not in TAPELESS:
            return
        self._size += len(call.lines) + BESIDES
        if self._size > MOST_KNOWN:
            self._done.clear()
            self._size = len(call.lines) + BESIDES
        self._done[call.seen] = done

    def _again(self, call: Call, room: int, host: Host, final: bool) -> Done | None:
        """Make the call in a used instance. Return None if there is none or if its result cannot be relied on.

        `room` is the fuel that can be paid on top of the price of an instance. Raises `Ended` of kind `AGAIN`.
        """
        instance = self._used(call.digest)
        if instance is None:
            return None
        fuel_used, charged, end = instance.fuel_used, instance.charged, ""
        try:
            instance.restart(call.setup, SHORT)
            answer = instance.play(call.lines, host, SHORT - instance.spent + room)
            looked = instance.drop([0])
        except Ended as ended:
            answer, end = " ", ended.kind
        charged = instance.charged - charged
        own = instance.fuel_used - fuel_used - charged
        if own <= SHORT and _settled(answer):
            self._release(call.digest, instance)
            done = Done(answer, looked, PRICE + charged)
            self._keep(call, done)
            return done
        if end == "fuel" and final and own < SHORT:
            # The fuel charged is more than can be paid, however much fuel a fresh instance would use itself.
            return Done("", "", PRICE + room, "fuel")
        if charged and call.asks:
            raise Ended(AGAIN, "has to be made again")
        return None

    def _afresh(self, call: Call, room: int, host: Host) -> Done:
        """Make the call in a fresh instance. Raises `Ended` (`DEEP` or `AGAIN`) with the price as `fuel_used`."""
        limits = replace(self._limits, fuel=room + call.included)
        try:
            instance = self._image.instance(call.source, {"game": self._game} | call.setup, limits)
        except Ended as ended:
            return Done("", "", PRICE + max(0, ended.fuel_used - call.included), ended.kind)
        loaded = instance.fuel_used
        try:
            answer = instance.play(call.lines, host, limits.fuel - loaded)
        except Ended as ended:
            price = _price(call, instance)
            if ended.kind in (DEEP, AGAIN):
                raise Ended(ended.kind, ended.message, fuel_used=price) from None
            return Done("", "", price, ended.kind)
        price = _price(call, instance)
        looked = instance.drop([0])
        short = _settled(answer) and loaded + SHORT * 3 // 2 <= call.included
        if short and self._image.stateless(call.source):
            self._release(call.digest, instance)
        return Done(answer, looked, price)

    def _used(self, digest: str) -> Instance | None:
        """Take out and return the used instance of this program that was kept last, or None if there is none."""
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == digest:
                return self._idle.pop(place)[1]
        return None

    def _release(self, digest: str, instance: Instance) -> None:
        """Keep an instance for the next call.

        If there are too many, remove the oldest instance of the program that has the most instances.
        """
        if len(self._idle) >= MOST_IDLE:
            digests = [each for each, _ in self._idle]
            [(most, _)] = Counter(digests).most_common(1)
            del self._idle[digests.index(most)]
        self._idle.append((digest, instance))


def _settled(answer: str) -> bool:
    """Whether an answer is the same in every instance: it has moves only, or the fault of an illegal move."""
    return " " not in answer or ILLEGALLY in answer


def _price(call: Call, instance: Instance) -> int:
    """Return the price of a call that was made in a fresh instance."""
    own = instance.fuel_used - instance.charged
    return PRICE + max(0, own - call.included) + instance.charged
