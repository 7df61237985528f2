"""The oracle that asks a chat model at any address with an OpenAI-compatible API.

Requests are retried here and not by the SDK, so that each request is counted, and so that the pause between requests
is the one that the server asks for.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import anyio

from tournament.errors import UsageError
from tournament.oracles.limits import NOTHING, BudgetExceeded, Hold, Limits
from tournament.oracles.oracle import Answer, Call, CallOutcome, Notify, silent
from tournament.oracles.prices import Prices, Usage
from tournament.oracles.protocol import Nonsense, Refusal, read_completion, read_error, retry_after
from tournament.oracles.settings import NO_KEY, OPENAI, Settings
from tournament.oracles.transport import Closed, Dropped, Late, NoAnswer, Transport
from tournament.seeds import Tape, tape_name

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0
"""Seconds before a request is sent again."""
GROWTH = 3.0
"""Factor from one pause to the next. The first pause is short, because most trouble is over by then, and the first
five pauses add up to twelve seconds."""
FREE_TRIES = 4
"""How often one call may be sent again at once when its request did not reach the model."""
QUIRKS = {
    "temperature": "takes no temperature: it is left out from now on",
    "max_tokens": "wants max_completion_tokens: it gets that from now on",
    "system": "takes no system message: it is put before the prompt from now on",
}
"""The message for each quirk of a model, which is shown when the quirk is found."""


@dataclass(frozen=True)
class Tried:
    """The result of one request: the answer, and whether and when the request should be sent again.

    `wait` is how many seconds the server asks to wait, or None.
    """

    answer: Answer
    again: Literal["no", "at once", "later"] = "no"
    wait: float | None = None


class Chat:
    """Asks one model at one address. One object serves any number of calls at once.

    Raises `UsageError` if only one price is set, if OpenAI is asked without a key, or if dollars are limited and the
    price is unknown.
    """

    def __init__(
        self, model: str, base_url: str, settings: Settings, limits: Limits, notify: Notify = silent
    ) -> None:
        own = (settings.price_in, settings.price_out)
        if None in own and own != (None, None):
            raise UsageError("only one price is set: give both --price-in and --price-out")
        self.model = model
        self.base_url = base_url
        self._settings = settings
        self._limits = limits
        self._notify = notify
        self._prices = Prices(model, base_url, own if None not in own else None)  # type: ignore[arg-type]
        self._quirks: set[str] = set()
        self._reached = False
        self._transport: Transport | None = None
        if base_url == OPENAI and settings.api_key is None:
            raise UsageError(f"{OPENAI} needs a key: set OPENAI_API_KEY")
        if limits.budget.money is not None and not self._prices.known:
            raise UsageError(
                f"no price is known for {model} at {base_url}: give --price-in and --price-out in dollars for "
                "a million tokens, or limit tokens or calls instead of money"
            )

    @property
    def identity(self) -> Mapping[str, object]:
        """The model, the address and the sampling settings."""
        sampling = self._settings.model_dump(include={"temperature", "max_tokens"})
        return {"model": self.model, "base_url": self.base_url, **sampling}

    async def ask(self, call: Call) -> Answer:
        """Return the model's answer, or a failure after as many requests as the settings allow."""
        free, failed, requests, taken = FREE_TRIES, 0, 0, NOTHING
        async with self._limits.gate.limiter:
            began = anyio.current_time()
            while True:
                tried = await self._request(call, first=requests == 0)
                requests += tried.answer.outcome is not CallOutcome.BUDGET
                taken += tried.answer.taken
                if tried.again == "at once" and free:
                    free -= 1
                elif tried.again != "no" and failed < self._settings.retries:
                    await anyio.sleep(_pause(failed, call) if tried.wait is None else tried.wait)
                    failed += 1
                else:
                    break
            seconds = anyio.current_time() - began
        return replace(
            tried.answer, model=self.model, seconds=seconds, requests=requests, taken=taken
        )

    async def aclose(self) -> None:
        """Close all connections."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()

    async def _request(self, call: Call, *, first: bool) -> Tried:
        """Send a request when the limits allow it. The answer tells what the budget counts for the request."""
        size = sum(len(message.text.encode()) + 16 for message in call.messages) + 16
        answer = self._settings.max_tokens
        most = self._prices.cost(Usage(size, answer))
        try:
            # A token is at least one byte long, and about four bytes on average.
            async with self._limits.admit(size // 4 + answer, size + answer, most) as hold:
                tried = await self._exchange(call, hold)
        except BudgetExceeded as error:
            return Tried(_failed(CallOutcome.BUDGET, str(error), free=True))
        if first and tried.answer.outcome.answered:
            self._limits.gate.served()
        return replace(tried, answer=replace(tried.answer, taken=hold.taken))

    async def _exchange(self, call: Call, hold: Hold) -> Tried:
        """Send one request and return its result."""
        quirks = frozenset(self._quirks)
        body = json.dumps(self._body(call, quirks)).encode()
        try:
            response = await self._connected().post(body)
        except NoAnswer as error:
            return self._broken(error, hold)
        self._reached = True
        if 200 <= response.status < 300:
            return self._answered(response.body, hold)
        if response.status < 500:
            hold.release()  # The model was not asked. A server that fails may have asked it.
        return self._refused(read_error(response.status, response.body), response.headers, quirks)

    def _body(self, call: Call, quirks: frozenset[str]) -> dict[str, object]:
        settings = self._settings
        messages = [{"role": message.role, "content": message.text} for message in call.messages]
        if "system" in quirks:
            text = "\n\n".join(message.text for message in call.messages)
            messages = [{"role": "user", "content": text}]
        limit = "max_completion_tokens" if "max_tokens" in quirks else "max_tokens"
        body: dict[str, object] = {
            "model": self.model,
            "messages": messages,
            limit: settings.max_tokens,
        }
        if settings.temperature is not None and "temperature" not in quirks:
            body["temperature"] = settings.temperature
        return body

    def _answered(self, body: bytes, hold: Hold) -> Tried:
        try:
            answer, usage = read_completion(body)
        except Nonsense as error:
            detail = f"the answer of {self.base_url} makes no sense: {error}"
            failure = _failed(CallOutcome.SERVER_ERROR, self._settings.scrub(detail))
            return Tried(failure, "later")
        cost = self._prices.cost(usage)
        hold.correct(usage.total, cost)
        text = self._settings.without_key(answer.text)
        detail = self._settings.scrub(answer.detail)
        return Tried(replace(answer, text=text, detail=detail, cost=cost))

    def _refused(
        self, refusal: Refusal, headers: Mapping[str, str], quirks: frozenset[str]
    ) -> Tried:
        """Return the result of a request that the server answered with an error, and whether to try again."""
        detail = self._settings.scrub(f"{self.base_url} answered {refusal}")
        answer = _failed(refusal.outcome, detail, free=refusal.status < 500)
        if refusal.quirk and refusal.quirk not in quirks:
            if refusal.quirk not in self._quirks:
                self._quirks.add(refusal.quirk)
                self._notify(f"{self.model} {QUIRKS[refusal.quirk]}")
            return Tried(answer, "at once")
        if refusal.outcome not in (CallOutcome.RATE_LIMITED, CallOutcome.SERVER_ERROR):
            return Tried(answer)
        wait = retry_after(headers, time.time())
        too_long = wait is not None and wait > self._settings.longest_wait
        if refusal.outcome is CallOutcome.RATE_LIMITED:
            self._limits.gate.too_many(None if too_long else wait)
        if too_long:
            return Tried(replace(answer, detail=f"{detail}; it asks to wait {wait:.0f} seconds"))
        return Tried(answer, "later", wait)

    def _broken(self, error: NoAnswer, hold: Hold) -> Tried:
        """Return the result of a request whose connection failed or that took too long."""
        if isinstance(error, Late):
            return Tried(_failed(CallOutcome.TIMEOUT, str(error)))
        if not isinstance(error, Dropped):
            hold.release()
        if isinstance(error, Closed | Dropped):
            detail = f"{self.base_url} closed the connection before it answered ({error})"
            answer = _failed(CallOutcome.DROPPED, self._settings.scrub(detail))
            return Tried(answer, "at once" if isinstance(error, Closed) else "later")
        detail = f"no server at {self.base_url} ({error})"
        answer = _failed(CallOutcome.UNREACHABLE, detail, free=True)
        return Tried(answer, "later" if self._reached else "no")

    def _connected(self) -> Transport:
        """Return the connections to the server, which are made on first use."""
        if self._transport is None:
            key = self._settings.api_key
            secret = key.get_secret_value() if key else NO_KEY
            most = max(self._limits.gate.most, 100)
            self._transport = Transport(secret, self.base_url, most, self._settings.time_limit)
        return self._transport


def _failed(outcome: CallOutcome, detail: str, *, free: bool = False) -> Answer:
    """Return an answer without text. `free` says that certainly nothing was billed, so that its cost is 0."""
    return Answer("", outcome, detail=detail, cost=Decimal(0) if free else None)


def _pause(failed: int, call: Call) -> float:
    """Return the seconds to wait before the next request, after `failed` failures.

    They are longer after each failure, and shorter at random by up to a quarter, so that calls do not retry together.
    """
    tape = Tape(tape_name("retry", *call.position, call.prompt, failed))
    return min(FIRST_PAUSE * GROWTH**failed, LONGEST_PAUSE) * (1 - 0.25 * tape.random())
