"""Functions that read the answers, errors and headers of servers that use the chat completions protocol.

Nothing here sends anything. Servers differ in everything that a simple exchange does not need, so these functions
allow every field to be missing or to have an unexpected type.
"""

import json
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from tournament.oracles.oracle import CallOutcome
from tournament.oracles.prices import Usage

OUT_OF_CREDIT = frozenset(
    {
        "insufficient_quota",
        "credit_balance_exhausted",
        "billing_hard_limit_reached",
        "billing_not_active",
    }
)
"""Codes of errors with status 429 that remain however long one waits."""
FILTERED = frozenset({"content_filter", "content_policy_violation"})
"""Codes of errors that mean that the provider refuses the content."""
TOO_LONG = (
    "context_length_exceeded",
    "context length",
    "context size",
    "context window",
    "maximum context",
)
"""Texts in codes or messages of errors that mean that the prompt is too long for the model."""
BUSY = frozenset({408, 409})
"""Statuses below 500, besides 429, after which it is worth trying again."""
HINTS = {
    401: "check OPENAI_API_KEY",
    403: "check OPENAI_API_KEY",
    404: "check the model's name and the server's address",
}


class Nonsense(ValueError):
    """The server's answer is not a chat completion."""


@dataclass(frozen=True)
class Completion:
    """A model's answer: its text, why the model stopped, the counted tokens, and the outcome."""

    text: str
    finish: str
    usage: Usage
    outcome: CallOutcome
    detail: str = ""


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
        if any(words in f"{self.code} {self.message.lower()}" for words in TOO_LONG):
            return CallOutcome.TOO_LONG
        return CallOutcome.REJECTED

    @property
    def quirk(self) -> str | None:
        """What the model rejects, if leaving it out or renaming it helps.

        One of `max_tokens`, `temperature` and `system`, or None for any other error.
        """
        said = self.message.lower()
        if self.status not in (400, 422):
            return None
        if self.parameter == "max_tokens" or ("max_tokens" in said and "max_completion" in said):
            return "max_tokens" if "max_completion_tokens" in said else None
        if self.parameter == "temperature" or ("temperature" in said and "support" in said):
            return "temperature"
        if "system" in said and ("role" in said or "support" in said):
            return "system"
        return None

    def __str__(self) -> str:
        hint = f" ({HINTS[self.status]})" if self.status in HINTS else ""
        return f"{self.status} {one_line(self.message) or self.code}".strip() + hint


def read_completion(body: bytes) -> Completion:
    """Return the answer in the body of a successful response. Raises `Nonsense` if the body is not a completion."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        raise Nonsense(f"it is not JSON: {one_line(body[:200].decode(errors='replace'))}") from None
    if not isinstance(data, dict):
        raise Nonsense("it is not an object")
    if data.get("error"):
        raise Nonsense(str(refusal(200, data)))
    usage = _usage(data.get("usage"))
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return Completion("", "", usage, CallOutcome.EMPTY, "the answer has no choices")
    message = choices[0].get("message")
    message = message if isinstance(message, dict) else {}
    text, finish = _text(message.get("content")), _text(choices[0].get("finish_reason"))
    declined = _text(message.get("refusal"))
    return Completion(text or declined, finish, usage, *_outcome(text, finish, declined))


def _outcome(text: str, finish: str, declined: str) -> tuple[CallOutcome, str]:
    """Return the outcome of an answer and one line about it. `declined` is the text of a refusal, or empty."""
    if finish == "content_filter":
        return CallOutcome.REFUSED, "the provider's filter stopped it"
    if declined and not text:
        return CallOutcome.REFUSED, one_line(declined)
    if finish == "length":
        detail = "" if text.strip() else "all tokens went into reasoning: raise the limit"
        return CallOutcome.TRUNCATED, detail
    return (CallOutcome.OK, "") if text.strip() else (CallOutcome.EMPTY, "the answer is empty")


def _text(content: Any) -> str:
    """Return content as text. It may be a string or a list of parts; lone surrogates are replaced by `?`."""
    if isinstance(content, list):
        content = "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""


def _usage(data: Any) -> Usage:
    if not isinstance(data, dict):
        return Usage()
    details = data.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    prompt, answer = _count(data.get("prompt_tokens")), _count(data.get("completion_tokens"))
    return Usage(prompt, answer, _count(cached))


def _count(value: Any) -> int | None:
    """Return a number of tokens, or None if the value is not one."""
    try:
        number = None if isinstance(value, bool) or value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number is not None and 0 <= number < 1e12 else None


def read_error(status: int, raw: bytes) -> Refusal:
    """Return the error that a status and a body describe. The body may be JSON or plain text."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = raw.decode("utf-8", "replace")
    return refusal(status, body)


def refusal(status: int, body: object) -> Refusal:
    """Return the error that a status and a decoded body describe."""
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
