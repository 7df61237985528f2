"""Functions that read the answers, errors and headers of servers that use the chat completions protocol.

Nothing here sends anything. Servers differ in everything that a simple exchange does not need, so these functions
allow every field to be missing or to have an unexpected type.
"""

import json
import math
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from tournament.oracles.oracle import Answer, CallOutcome
from tournament.oracles.prices import Usage

OUT_OF_CREDIT = {
    *("insufficient_quota", "credit_balance_exhausted"),
    *("billing_hard_limit_reached", "billing_not_active"),
}
"""Codes of errors with status 429 that remain however long one waits."""
FILTERED = {"content_filter", "content_policy_violation"}
"""Codes of errors that mean that the provider refuses the content."""
TOO_LONG = re.compile("context_length_exceeded|context (length|size|window)|maximum context")
"""A text in codes or messages of errors that mean that the prompt is too long for the model."""
BUSY = {408, 409}
"""Statuses below 500, besides 429, after which another try may succeed."""
HINTS = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY",
    404: "check the model's name and the server's address",
}


class Nonsense(ValueError):
    """The server's answer is not a chat completion."""


@dataclass(frozen=True)
class Refusal:
    """An error that the server answered with."""

    status: int
    code: str = ""
    parameter: str = ""
    message: str = ""

    @property
    def outcome(self) -> CallOutcome:
        """The outcome of a call that ends with this error."""
        if self.code in FILTERED:
            return CallOutcome.REFUSED
        if self.status == 429 and self.code not in OUT_OF_CREDIT:
            return CallOutcome.RATE_LIMITED
        if self.status >= 500 or self.status in BUSY:
            return CallOutcome.SERVER_ERROR
        if TOO_LONG.search(f"{self.code} {self.message.lower()}"):
            return CallOutcome.TOO_LONG
        return CallOutcome.REJECTED

    @property
    def quirk(self) -> str | None:
        """What the model rejects, if leaving it out or renaming it helps.

        One of `max_tokens`, `temperature` and `system`, or None for any other error.
        """
        text = self.message.lower()
        if self.status not in (400, 422):
            return None
        if self.parameter == "max_tokens" or ("max_tokens" in text and "max_completion" in text):
            return "max_tokens" if "max_completion_tokens" in text else None
        if self.parameter == "temperature" or ("temperature" in text and "support" in text):
            return "temperature"
        if "system" in text and ("role" in text or "support" in text):
            return "system"
        return None

    def __str__(self) -> str:
        hint = f" ({HINTS[self.status]})" if self.status in HINTS else ""
        return f"{self.status} {one_line(self.message) or self.code}".strip() + hint


def read_completion(body: bytes) -> tuple[Answer, Usage]:
    """Return the answer in the body of a successful response. Raises `Nonsense` if the body is not a completion."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Nonsense(f"it is not JSON: {one_line(body[:200].decode(errors='replace'))}") from None
    if not isinstance(data, dict):
        raise Nonsense("it is not an object")
    if data.get("error"):
        raise Nonsense(str(read_error(200, body)))
    choice = _part(data, "choices", 0)
    text, finish = _text(_part(choice, "message", "content")), _text(_part(choice, "finish_reason"))
    declined = _text(_part(choice, "message", "refusal"))
    if isinstance(choice, dict):
        outcome, detail = _outcome(text, finish, declined)
    else:
        outcome, detail = CallOutcome.EMPTY, "the answer has no choices"
    usage = Usage(
        _count(_part(data, "usage", "prompt_tokens")),
        _count(_part(data, "usage", "completion_tokens")),
        _count(_part(data, "usage", "prompt_tokens_details", "cached_tokens")),
    )
    counts = (usage.prompt, usage.answer)
    return Answer(text or declined, outcome, "", finish, *counts, detail=detail), usage


def _part(data: Any, *path: str | int) -> Any:
    """Return the part of decoded JSON at a path of keys and positions, or None if there is no such part."""
    for key in path:
        try:
            data = data[key]
        except (LookupError, TypeError):
            return None
    return data


def _outcome(text: str, finish: str, declined: str) -> tuple[CallOutcome, str]:
    """Return the outcome of an answer and one line about it. `declined` is the text of a refusal, or empty."""
    if finish == "content_filter":
        return CallOutcome.REFUSED, "the provider's filter stopped it"
    if declined and not text:
        return CallOutcome.REFUSED, one_line(declined)
    if finish == "length":
        empty = "all tokens were used for reasoning: raise --max-tokens"
        return CallOutcome.TRUNCATED, "" if text.strip() else empty
    return (CallOutcome.OK, "") if text.strip() else (CallOutcome.EMPTY, "the answer is empty")


def _text(content: Any) -> str:
    """Return content as text. It may be a string or a list of parts; lone surrogates are replaced by `?`."""
    if isinstance(content, list):
        content = "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""


def _count(value: Any) -> int | None:
    """Return a number of tokens, or None if the value is not one."""
    try:
        number = -1.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if 0 <= number < 1e12 else None


def read_error(status: int, raw: bytes) -> Refusal:
    """Return the error that a status and a body describe. The body may be JSON or plain text."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = raw.decode("utf-8", "replace")
    found = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(found, dict):
        return Refusal(status, message=str(found or ""))
    code, kind = found.get("code"), found.get("type")
    known = OUT_OF_CREDIT | FILTERED
    name = kind if isinstance(kind, str) and kind in known else code or kind or ""
    message = found.get("message") or found.get("detail") or ""
    return Refusal(status, str(name), str(found.get("param") or ""), str(message))


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that the server asks to wait, or None if the headers say nothing usable.

    The header may contain seconds, milliseconds or a date. `now` is the time in seconds since the epoch.
    """
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            wait = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        return max(0.0, wait) if math.isfinite(wait) else None
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, date.timestamp() - now)
    except (TypeError, ValueError, OverflowError):
        return None


def one_line(text: str) -> str:
    """Return the text as one line of at most 300 characters."""
    return textwrap.shorten(text, 300, placeholder=" ...")
