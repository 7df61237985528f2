"""Runs simulated calls in WebAssembly instances of their programs, and returns the price of each call in fuel.

By rule, each call runs in a fresh instance, as a real match does. Making an instance takes longer than most calls, so
a stateless program is run in an instance that was used before, provided that its calls are short enough to have the
same fixed price in any instance. The answer and the price of a call must never depend on earlier calls: if the result
in a used instance might differ from that in a fresh one, the call is made again in a fresh instance.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tournament.sandbox.call import COIN, NOTHING, TAPE
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
READ = {"0": NOTHING, "4": NOTHING, "1": COIN, "5": COIN} | dict.fromkeys("2367", TAPE)
"""The most random bits that a program has read, by the code that its guest reports."""
MOST_IDLE = 200
"""The most used instances that are kept. Each takes about 1.5 MB."""
TIMEOUT, ERROR, ILLEGAL = "TIMEOUT", "ERROR", "ILLEGAL"
"""What a simulation returns that has failed."""
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
    def asks(self) -> bool:
        """Whether the program might ask the host for `simulate` or `proves`, judging by its source."""
        return "simulate" in self.source or "proves" in self.source


@dataclass(frozen=True)
class Result:
    """The result of a call.

    It has the guest's answer, the price in fuel, and in `ended` the kind of end if the call ended its instance. `read`
    is the most random bits that the program has read (`NOTHING`, `COIN` or `TAPE`) as reported by its guest, or None.
    """

    answer: str
    read: int | None
    price: int
    ended: str = ""

    def code(self, move_count: int) -> str:
        """Return the code of the last move, or the failure that stands for a fault in any round up to it."""
        if self.ended:
            return TIMEOUT if self.ended == "fuel" else ERROR
        answers = self.answer.split("\n")
        faulty = next((each for each in answers if len(each) != 1), None)
        if faulty is not None:
            return ILLEGAL if ILLEGALLY in faulty else ERROR
        return answers[-1] if 0 <= ord(answers[-1]) - 48 < move_count else ERROR

    def limited(self, fuel: int) -> "Result":
        """Return this result, or that the call ran out of fuel if the price is more than the fuel."""
        return self if self.price <= fuel else Result("", None, fuel, "fuel")


class Runner:
    """Runs the simulated calls of the programs of one game, and keeps used instances."""

    def __init__(self, image: Image, game: dict[str, Any], limits: Limits) -> None:
        self._image = image
        self._game = game
        self._limits = limits
        self._idle: list[tuple[str, Instance]] = []

    def run(self, call: Call, fuel: int, host: Host, *, fresh: bool, final: bool) -> Result:
        """Return the result of a call whose price may be at most `fuel`.

        With `fresh`, programs that might ask the host for something always get a fresh instance. `final` says that if
        this call runs out of fuel, so do all calls in progress. Raises `Ended` (`DEEP` or `AGAIN`) with the price as
        `fuel_used`.
        """
        extra = fuel - PRICE
        if extra < 0:
            return Result("", None, fuel, "fuel")
        if not (fresh and call.asks) and (result := self._run_in_used(call, extra, host, final)):
            return result.limited(fuel)
        limits = replace(self._limits, fuel=extra + call.included)
        charged = 0
        try:
            instance = self._image.instance(call.source, {"game": self._game} | call.setup, limits)
            loaded = instance.fuel_used
            try:
                answer = instance.play(call.lines, host, limits.fuel - loaded)
            finally:
                charged = instance.charged
        except Ended as ended:
            price = _price(call, ended.fuel_used, charged)
            if ended.kind in (DEEP, AGAIN):
                raise Ended(ended.kind, ended.message, fuel_used=price) from None
            return Result("", None, price, ended.kind).limited(fuel)
        price = _price(call, instance.fuel_used, charged)
        read = READ.get(instance.drop([0]))
        short = _is_settled(answer) and loaded + SHORT * 3 // 2 <= call.included
        if short and self._image.stateless(call.source):
            self._release(call.digest, instance)
        return Result(answer, read, price).limited(fuel)

    def _run_in_used(self, call: Call, extra: int, host: Host, final: bool) -> Result | None:
        """Make the call in a used instance. Return None if there is none or if its result cannot be relied on.

        `extra` is the fuel that can be paid on top of the price of an instance. Raises `Ended` of kind `AGAIN`.
        """
        instance = self._used(call.digest)
        if instance is None:
            return None
        fuel_used, charged, end = instance.fuel_used, instance.charged, ""
        try:
            instance.restart(call.setup, SHORT)
            answer = instance.play(call.lines, host, SHORT - instance.spent + extra)
            read = READ.get(instance.drop([0]))
        except Ended as ended:
            answer, end = " ", ended.kind
        charged = instance.charged - charged
        own = instance.fuel_used - fuel_used - charged
        if own <= SHORT and _is_settled(answer):
            self._release(call.digest, instance)
            return Result(answer, read, PRICE + charged)
        if end == "fuel" and final and own < SHORT:
            # The fuel charged is more than can be paid, however much fuel a fresh instance would use itself.
            return Result("", None, PRICE + extra, "fuel")
        if charged and call.asks:
            raise Ended(AGAIN, "has to be made again")
        return None

    def _used(self, digest: str) -> Instance | None:
        """Take out and return the used instance of this program that was kept last, or None if there is none."""
        positions = [n for n, (known, _) in enumerate(self._idle) if known == digest]
        return self._idle.pop(positions[-1])[1] if positions else None

    def _release(self, digest: str, instance: Instance) -> None:
        """Keep an instance for the next call.

        If there are too many, remove the oldest instance of the program that has the most instances.
        """
        if len(self._idle) >= MOST_IDLE:
            digests = [each for each, _ in self._idle]
            [(most, _)] = Counter(digests).most_common(1)
            del self._idle[digests.index(most)]
        self._idle.append((digest, instance))


def _is_settled(answer: str) -> bool:
    """Whether an answer is the same in every instance: it has moves only, or the fault of an illegal move."""
    return " " not in answer or ILLEGALLY in answer


def _price(call: Call, fuel_used: int, charged: int) -> int:
    """Return the price of a call that was made in a fresh instance, given the fuel used and the part charged in it."""
    return PRICE + max(0, fuel_used - charged - call.included) + charged
