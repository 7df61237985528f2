"""Runs simulated calls in instances of their programs, and says what that costs.

Each call has a fresh instance, as a real match has. But to make one takes longer than most calls; so a program whose
text shows that it keeps nothing is run in an instance that was used before, as long as its calls are so short that
they have but one price. What is answered, and what it costs, never depend on what happened before: where
a used instance might tell, the call is made again in a fresh one.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from tournament.sandbox.instance import Ended, Host, Image, Instance
from tournament.sandbox.limits import Limits

PRICE = 2_500_000
"""Fuel for an instance: to make one takes as long."""
INCLUDED, BY_CHARACTER = 3_800_000, 100
"""What an instance may use itself for its price, and more for every character of its program."""
SHORT = 1_100_000
"""The most that a used instance may use itself in a call. A fresh one is taken to use less than half as much again."""
MOST_KNOWN, BESIDES = 10_000_000, 500
"""Bound on the answers that are kept: characters of their histories, and what they take besides."""
TAPELESS, PUBLICLY, PRIVATELY = ("0", "4"), ("1", "5"), ("2", "3", "6", "7")
"""How a guest says that its program has looked at no tape, only at the public coin, or at its private tape."""
MOST_IDLE = 200
"""Used instances that are kept: some 1.5 MB each."""
ILLEGALLY = '["illegal"'
"""How the fault of an illegal move begins in a guest's answer."""
DEEP, AGAIN = "deep", "again"
"""Kinds of end that all calls come to, up to the real one: too deep a nest, and a used instance that might tell."""


@dataclass(frozen=True)
class Call:
    """A call to be made: the program's digest and text, the setup of the match, and a line for each of its rounds."""

    digest: str
    source: str
    setup: dict[str, Any]
    lines: str

    @property
    def included(self) -> int:
        """What the call may use for the price of an instance."""
        return INCLUDED + BY_CHARACTER * len(self.source)

    @property
    def seen(self) -> "Seen":
        """All that a program sees that looks at no tape, and asks for nothing."""
        [[seat, lineup, *_]] = self.setup["matches"]
        return lineup, seat, self.lines, tuple(self.setup.get("shown", ()))

    @property
    def asks(self) -> bool:
        """Whether the program may ask its host for powers, for all that its text shows."""
        return "simulate" in self.source or "proves" in self.source


@dataclass(frozen=True)
class Done:
    """What came of a call: the guest's answer, or the kind of its end; at what its program looked; and the price."""

    answer: str
    looked: str
    price: int
    ended: str = ""


Seen = tuple[tuple[str, ...], int, str, tuple[str, ...]]


class Runner:
    """Runs the programs of a game."""

    def __init__(self, image: Image, game: dict[str, Any], limits: Limits) -> None:
        self._image = image
        self._game = game
        self._limits = limits
        self._idle: list[tuple[str, Instance]] = []
        self._done: dict[Seen, Done] = {}
        self._size = 0

    def run(self, call: Call, fuel: int, host: Host, *, fresh: bool, final: bool) -> Done:
        """What comes of a call for which at most so much can be paid.

        With `fresh`, programs that ask for powers get fresh instances in any case. If its end for want of fuel is
        `final`, the calls in progress all end with it. Raises `Ended` if it is `DEEP` or has to be made `AGAIN`.
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
        """Keep what came of a short call of a program that saw nothing but what the next such call would see."""
        if call.asks or done.looked not in TAPELESS:
            return
        self._size += len(call.lines) + BESIDES
        if self._size > MOST_KNOWN:
            self._done.clear()
            self._size = len(call.lines) + BESIDES
        self._done[call.seen] = done

    def _again(self, call: Call, room: int, host: Host, final: bool) -> Done | None:
        """The same in a used instance; None where there is none. `room` is what can be paid on top of its price."""
        instance = self._used(call.digest)
        if instance is None:
            return None
        burnt, charged, end = instance.burnt, instance.charged, ""
        try:
            instance.restart(call.setup, SHORT)
            answer = instance.play(call.lines, host, SHORT - instance.spent + room)
            looked = instance.drop([0])
        except Ended as ended:
            answer, end = " ", ended.kind
        charged = instance.charged - charged
        own = instance.burnt - burnt - charged
        if own <= SHORT and _settled(answer):
            self._release(call.digest, instance)
            done = Done(answer, looked, PRICE + charged)
            self._keep(call, done)
            return done
        if end == "fuel" and final and own < SHORT:
            # What is charged to it is more than can be paid, whatever a fresh one would use itself.
            return Done("", "", PRICE + room, "fuel")
        if charged and call.asks:
            raise Ended(AGAIN, "has to be made again")
        return None

    def _afresh(self, call: Call, room: int, host: Host) -> Done:
        limits = replace(self._limits, fuel=room + call.included)
        try:
            instance = self._image.instance(call.source, {"game": self._game} | call.setup, limits)
        except Ended as ended:
            return Done("", "", PRICE + max(0, ended.burnt - call.included), ended.kind)
        loaded = instance.burnt
        try:
            answer = instance.play(call.lines, host, limits.fuel - loaded)
        except Ended as ended:
            price = _price(call, instance)
            if ended.kind in (DEEP, AGAIN):
                raise Ended(ended.kind, ended.message, burnt=price) from None
            return Done("", "", price, ended.kind)
        price = _price(call, instance)
        looked = instance.drop([0])
        short = _settled(answer) and loaded + SHORT * 3 // 2 <= call.included
        if short and self._image.plain(call.source):
            self._release(call.digest, instance)
        return Done(answer, looked, price)

    def _used(self, digest: str) -> Instance | None:
        for place in range(len(self._idle) - 1, -1, -1):
            if self._idle[place][0] == digest:
                return self._idle.pop(place)[1]
        return None

    def _release(self, digest: str, instance: Instance) -> None:
        """Keep an instance for the next call. Of the program with most, the one that has waited longest makes room."""
        if len(self._idle) >= MOST_IDLE:
            digests = [each for each, _ in self._idle]
            [(most, _)] = Counter(digests).most_common(1)
            del self._idle[digests.index(most)]
        self._idle.append((digest, instance))


def _settled(answer: str) -> bool:
    """Whether an answer can be trusted to be the same in every instance: moves, and a move that is not legal."""
    return " " not in answer or ILLEGALLY in answer


def _price(call: Call, instance: Instance) -> int:
    """What a call cost in an instance that was made for it."""
    own = instance.burnt - instance.charged
    return PRICE + max(0, own - call.included) + instance.charged
