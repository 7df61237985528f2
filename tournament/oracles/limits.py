"""Limits on calls: how many run at once, how many start per minute, and how much all of them may cost.

All chains of a run share one `Limits`. A call first waits at the gate. Each of its requests then reserves the most
that it can cost in the budget and waits until the limits per minute allow it. After the request, the reservation is
replaced by the actual cost. The functions that correct or release reservations never wait, so a cancelled task cannot
lose an answer that has already arrived.
"""

import operator
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass, field, replace
from decimal import Decimal

import anyio

from tournament.errors import UsageError

START, MOST = 20, 100
"""Default number of calls at once: at the start of a run, and at most."""
CUT = 0.8
"""Factor by which the limit shrinks when the server says that there are too many calls."""
COOLDOWN = 15.0
"""Seconds after a cut without another cut or rise, because answers in that time belong to earlier requests."""
LEAST_ROUND = 4
"""Fewest calls without trouble before the limit rises."""
RISE = 0.05
"""Share of the limit by which it rises after the first cut."""


class Gate:
    """Limits how many calls run at once. A call that waits to try again still counts.

    The limit doubles after each series of `limit` calls without trouble, until the server first says that there are
    too many calls. Then the limit is cut by a fifth, at most once in each cooldown, and rises by a twentieth per
    series (slow start, then additive increase and multiplicative decrease, as in Inspect). Other errors do not cut it.
    """

    def __init__(self, start: int, most: int) -> None:
        self.most = most
        self.limiter = anyio.CapacityLimiter(min(start, most))
        """A context manager in which a call runs. Calls enter in the order in which they come."""
        self._good = 0
        self._cut_once = False
        self._cool_at = float("-inf")

    @property
    def limit(self) -> int:
        """How many calls may run at once at present."""
        return int(self.limiter.total_tokens)

    def served(self) -> None:
        """Note that a call was answered at its first request, and raise the limit after enough of them."""
        if anyio.current_time() < self._cool_at:
            return
        self._good += 1
        if self._good < max(self.limit, LEAST_ROUND):
            return
        self._good = 0
        rise = max(1, round(self.limit * RISE)) if self._cut_once else self.limit
        self.limiter.total_tokens = min(self.limit + rise, self.most)

    def too_many(self, wait: float | None) -> None:
        """Cut the limit, because the server reported that there are too many calls.

        `wait` is how many seconds the server asked to wait, or None. The cooldown lasts at least as long.
        """
        now = anyio.current_time()
        self._good, self._cut_once = 0, True
        if now >= self._cool_at:
            self.limiter.total_tokens = max(1, int(self.limit * CUT))
            self._cool_at = now + COOLDOWN
        self._cool_at = max(self._cool_at, now + (wait or 0.0))


@dataclass
class Taken:
    """An amount that was taken from a window at some time. It may be corrected later."""

    time: float
    amount: float


class Window:
    """Limits an amount to `most` in any period of `seconds`, in order of arrival. None means no limit.

    An amount above `most` is let through when nothing else was taken in the period before it.
    """

    def __init__(self, most: int | None, seconds: float = 60.0) -> None:
        self._most = float("inf") if most is None else most
        self._seconds = seconds
        self._taken: deque[Taken] = deque()
        self._turn = anyio.Lock()

    async def take(self, amount: float) -> Taken:
        """Wait until the amount fits in and take it."""
        if self._most == float("inf"):
            return Taken(0, amount)
        async with self._turn:
            # No event can be awaited here: only the passing of time makes room.
            while not self._fits(amount):  # noqa: ASYNC110
                await anyio.sleep_until(self._taken[0].time + self._seconds)
            taken = Taken(anyio.current_time(), amount)
            self._taken.append(taken)
        return taken

    def _fits(self, amount: float) -> bool:
        while self._taken and self._taken[0].time + self._seconds <= anyio.current_time():
            self._taken.popleft()
        return not self._taken or sum(each.amount for each in self._taken) + amount <= self._most


@dataclass(frozen=True)
class Spending:
    """An amount of calls, tokens and dollars (`money`)."""

    calls: int = 0
    tokens: int = 0
    money: Decimal = Decimal(0)

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(*map(operator.sub, astuple(self), astuple(other)))


NOTHING = Spending()


class BudgetExceeded(Exception):
    """The rest of the budget is too small for the call, and waiting cannot help. The message names the limit."""


@dataclass(eq=False)
class Budget:
    """A hard limit on calls, tokens and dollars (`money`). None means no limit.

    Each request counts as one call. While a request runs, the budget counts the most that it can cost. If its cost
    never becomes known (because the connection broke or time ran out), this stays counted, since it may have been
    billed. `used` is what all requests so far used, with those of earlier sessions of the run.
    """

    calls: int | None = None
    tokens: int | None = None
    money: Decimal | None = None
    used: Spending = NOTHING
    held: Spending = field(default=NOTHING, init=False)
    """The amount that is reserved for requests that have not ended."""
    _change: anyio.Event = field(default_factory=anyio.Event, init=False)

    async def hold(self, tokens: int, money: Decimal | None) -> "Hold":
        """Reserve the most that a request can cost, and wait for running requests if they may return enough.

        Raises `BudgetExceeded` if the budget cannot cover the request, and `UsageError` if dollars are limited but the
        price is unknown.
        """
        if money is None and self.money is not None:
            raise UsageError(
                "a budget in dollars needs a price, and none is known for this model: give --price-in and --price-out, "
                "or limit tokens or calls instead"
            )
        most = Spending(1, tokens, money or Decimal(0))
        while limit := self._exceeded(self.used + self.held + most):
            if self.held.calls == 0 or self._exceeded(self.used + most):
                raise BudgetExceeded(
                    f"the budget is used up: {limit}, and another call may take more than is left"
                )
            await self._change.wait()
        self.held += most
        return Hold(most, most)

    def end(self, hold: "Hold") -> None:
        """Count what the request used instead of its reservation, and wake the tasks that wait for budget."""
        self.held -= hold.most
        self.used += hold.taken
        self._change.set()
        self._change = anyio.Event()

    def _exceeded(self, total: Spending) -> str:
        """Return a text about the first limit that the total exceeds, or an empty text."""
        limits = (
            (self.calls, total.calls, "calls"),
            (self.tokens, total.tokens, "tokens"),
            (self.money, total.money, "dollars"),
        )
        for most, taken, what in limits:
            if most is not None and taken > most:
                return f"{what} are limited to {most:,}"
        return ""


@dataclass(eq=False)
class Hold:
    """A reservation of budget for one request.

    In the end the budget counts `taken`, which is the whole reservation unless it was changed before. `window` is the
    entry of the request in the window of tokens.
    """

    most: Spending
    taken: Spending
    window: Taken = field(default_factory=lambda: Taken(0, 0))

    def correct(self, tokens: int | None, money: Decimal | None) -> None:
        """Set what the request used. None means that the whole reservation stays counted."""
        if tokens is not None:
            self.taken = replace(self.taken, tokens=tokens)
            self.window.amount = tokens
        if money is not None:
            self.taken = replace(self.taken, money=money)

    def release(self) -> None:
        """Count nothing, because the server did not process the request."""
        self.taken = NOTHING
        self.window.amount = 0


@dataclass
class Limits:
    """All limits that the calls of a run share."""

    gate: Gate
    requests: Window
    tokens: Window
    budget: Budget

    @asynccontextmanager
    async def admit(self, about: int, most: int, money: Decimal | None) -> AsyncIterator[Hold]:
        """Wait until a request is allowed to start, and yield its reservation of budget.

        `about` is the expected number of tokens; `most` and `money` are the most tokens and dollars it can cost. The
        request is counted when the block ends. Raises what `Budget.hold` raises.
        """
        hold = await self.budget.hold(most, money)
        try:
            try:
                await self.requests.take(1)
                hold.window = await self.tokens.take(about)
            except BaseException:
                hold.release()
                raise
            yield hold
        finally:
            self.budget.end(hold)
