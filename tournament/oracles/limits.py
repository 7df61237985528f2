"""What holds calls back: how many at once, how many a minute, and how much they may cost in all.

One `Limits` is shared by everything that asks, however many chains there are. A call passes the gate; each of its
requests is counted against the budget at the most that it can cost, and waits for its turn in the minute; afterwards
it is counted at what it did cost. Everything that gives back is done at once, without waiting, so that no answer that
has come is lost to a cancellation.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Self

import anyio

from tournament.errors import UsageError

START, MOST = 20, 100
"""Calls at once where nothing is said: at first, and at most."""
CUT = 0.8
COOLDOWN = 15.0
"""Seconds after a cut in which there is no other, and no growth: what comes back then was sent before."""
LEAST_ROUND = 4
RISE = 0.05


class Gate:
    """How many calls may be under way at once. One that has to try again keeps its place while it waits.

    It doubles after each round of calls without trouble until the server first says that there are too many; then it
    is cut by a fifth, once for each episode, and grows by a twentieth a round (slow start, then additive increase and
    multiplicative decrease, as in Inspect). Other errors than "too many" do not shrink it.
    """

    def __init__(self, start: int, most: int) -> None:
        self.most = most
        self.limit = min(start, most)
        """How many may pass at present."""
        self._under_way = 0
        self._turn = anyio.Lock(fast_acquire=True)
        self._change = anyio.Event()
        self._good = 0
        self._cut_once = False
        self._cool_at = float("-inf")

    async def __aenter__(self) -> None:
        # One by one: of calls that are sent together the answers come together, and wait for each other.
        async with self._turn:
            while self._under_way >= self.limit:
                self._change = anyio.Event()
                await self._change.wait()
            self._under_way += 1

    async def __aexit__(self, *_: object) -> None:
        self._under_way -= 1
        self._change.set()

    def served(self) -> None:
        """A call was answered at its first try."""
        if anyio.current_time() < self._cool_at:
            return
        self._good += 1
        if self._good < max(self.limit, LEAST_ROUND):
            return
        self._good = 0
        rise = max(1, round(self.limit * RISE)) if self._cut_once else self.limit
        self.limit = min(self.limit + rise, self.most)
        self._change.set()

    def too_many(self, wait: float | None) -> None:
        """The server said that there are too many calls; it may have said how long to wait, as long as an episode."""
        now = anyio.current_time()
        self._good, self._cut_once = 0, True
        if now >= self._cool_at:
            self.limit = max(1, int(self.limit * CUT))
            self._cool_at = now + COOLDOWN
        self._cool_at = max(self._cool_at, now + (wait or 0.0))


class Window:
    """At most so much in any minute, first come first served. What is more than a minute's worth goes alone."""

    def __init__(self, most: int | None, seconds: float = 60.0) -> None:
        self._most = most
        self._seconds = seconds
        self._taken: deque[list[float]] = deque()
        self._turn = anyio.Lock()

    async def take(self, amount: float) -> Callable[[float], None]:
        """Wait until the amount fits in; the function that is returned corrects it afterwards."""
        if self._most is None:
            return _nothing
        async with self._turn:
            # Time alone makes room.
            while not self._fits(amount):  # noqa: ASYNC110
                await anyio.sleep_until(self._taken[0][0] + self._seconds)
            entry = [anyio.current_time(), amount]
            self._taken.append(entry)

        def correct(actual: float) -> None:
            entry[1] = actual

        return correct

    def _fits(self, amount: float) -> bool:
        assert self._most is not None
        while self._taken and self._taken[0][0] + self._seconds <= anyio.current_time():
            self._taken.popleft()
        return not self._taken or sum(taken for _, taken in self._taken) + amount <= self._most


def _nothing(actual: float) -> None:
    """There is nothing to correct."""


@dataclass(frozen=True)
class Spending:
    """Calls, tokens and dollars."""

    calls: int = 0
    tokens: int = 0
    money: Decimal = Decimal(0)

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls + other.calls, self.tokens + other.tokens, self.money + other.money
        )

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls - other.calls, self.tokens - other.tokens, self.money - other.money
        )


NOTHING = Spending()


class BudgetSpent(Exception):
    """What is left does not cover the call, and nothing that is under way can give any back; `str()` says of which."""

    def __init__(self, limit: str) -> None:
        super().__init__(
            f"the budget is spent: {limit}, and another call may take more than is left"
        )


class Budget:
    """A hard limit on calls, tokens and dollars; None is no limit.

    A call under way is counted at the most that it can take. One whose cost is never learnt (cut off, out of time)
    stays counted at that, for it may have been billed. `spent` is where the count begins, when a run is taken up again.
    """

    def __init__(
        self,
        calls: int | None = None,
        tokens: int | None = None,
        money: Decimal | None = None,
        spent: Spending = NOTHING,
    ) -> None:
        self.calls, self.tokens, self.money = calls, tokens, money
        self.spent = spent
        self._held = NOTHING
        self._change: anyio.Event | None = None

    @property
    def under_way(self) -> Spending:
        """What is held for calls that have not ended."""
        return self._held

    async def hold(self, tokens: int, money: Decimal | None) -> "Hold":
        """Hold what a call may take, waiting for calls under way where that can help.

        Raises `BudgetSpent`, and `UsageError` where dollars are limited and the price is not known.
        """
        if money is None and self.money is not None:
            raise UsageError(
                "a budget in dollars needs a price, and none is known for this model here: give its price "
                "for a million tokens in and out, or a budget in tokens or calls"
            )
        most = Spending(1, tokens, money or Decimal(0))
        while limit := self._exceeded(self.spent + self._held + most):
            if self._held.calls == 0 or self._exceeded(self.spent + most):
                raise BudgetSpent(limit)
            self._change = self._change or anyio.Event()
            await self._change.wait()
        self._held += most
        return Hold(self, most)

    def end(self, hold: "Hold") -> None:
        """Count what was taken, and let those who wait look again."""
        self._held -= hold.most
        self.spent += hold.taken
        if self._change is not None:
            self._change.set()
            self._change = None

    def _exceeded(self, total: Spending) -> str:
        """The first limit that is below the total, if one is."""
        limits = (
            (self.calls, total.calls, "calls"),
            (self.tokens, total.tokens, "tokens"),
            (self.money, total.money, "dollars"),
        )
        return next(
            (
                f"{what} are limited to {most:,}"
                for most, taken, what in limits
                if most is not None and taken > most
            ),
            "",
        )


class Hold:
    """What is held for one call; all of it is taken unless something else is said before the block is left."""

    def __init__(self, budget: Budget, most: Spending) -> None:
        self._budget = budget
        self.most = most
        self.taken = most
        self.correct: Callable[[float], None] = _nothing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._budget.end(self)

    def settle(self, tokens: int | None, money: Decimal | None) -> None:
        """The call took that much; None: as much as was held."""
        if tokens is not None:
            self.taken = replace(self.taken, tokens=tokens)
            self.correct(tokens)
        if money is not None:
            self.taken = replace(self.taken, money=money)

    def release(self) -> None:
        """The server turned the call away: nothing was taken."""
        self.taken = NOTHING
        self.correct(0)


@dataclass
class Limits:
    """Everything that holds calls back."""

    gate: Gate
    requests: Window
    tokens: Window
    budget: Budget

    async def admit(self, about: int, most: int, money: Decimal | None) -> Hold:
        """Let a request through that takes about so many tokens, and at most so many tokens and dollars.

        It is counted when the block of what is returned is left. Raises `BudgetSpent` and `UsageError` as
        `Budget.hold` does.
        """
        hold = await self.budget.hold(most, money)
        try:
            await self.requests.take(1)
            hold.correct = await self.tokens.take(about)
        except BaseException:
            with hold:
                hold.release()
            raise
        return hold
