"""The interface of oracles: calls, their answers, and a named outcome for everything that can happen to a call."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from tournament.errors import UsageError
from tournament.oracles.limits import NOTHING, Spending

Notify = Callable[[str], None]
"""A function that shows one line of text to the person who runs the program."""


class CallOutcome(StrEnum):
    """The result of a call.

    `OK` and `SEVERAL_BLOCKS` mean that the answer contains what was asked for. With the outcomes that have an entry
    in `prompts.COMPLAINTS`, the prompt of the next attempt says what was wrong with the reply.
    """

    OK = "ok"
    SEVERAL_BLOCKS = "several_blocks"
    """The reply has more than one block of code, and the last one that defines the bot is used."""

    NO_CODE = "no_code"
    WRONG_FUNCTION = "wrong_function"
    DIFF = "diff"
    BAD_TEXT = "bad_text"
    """The program contains forbidden characters, or it is too long."""
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSED = "refused"

    TOO_LONG = "too_long"
    """The prompt does not fit into the model's context."""
    REJECTED = "rejected"
    """The server will never accept this request, for example because of the key, the model name or the credit."""
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    DROPPED = "dropped"
    """The server closed the connection before it answered."""
    UNREACHABLE = "unreachable"
    BUDGET = "budget"
    """Nothing was sent, because the budget is used up."""

    @property
    def good(self) -> bool:
        """Whether the answer contains what was asked for."""
        return self in (CallOutcome.OK, CallOutcome.SEVERAL_BLOCKS)

    @property
    def answered(self) -> bool:
        """Whether the model answered at all. Such a call has been paid for and must not be repeated."""
        unanswered = (
            "too_long rejected timeout rate_limited server_error dropped unreachable budget"
        )
        return self not in unanswered.split()


@dataclass(frozen=True)
class Message:
    """One message of a prompt. `role` is `system` or `user`."""

    role: str
    text: str


@dataclass(frozen=True)
class Call:
    """A question to an oracle, with its position in the run.

    `purpose` is "write", "critique", "rewrite" or "probe".
    `prompt` is the digest of the template and of the rendered messages. `key` names the position in a run to which
    the call belongs, and is the same in every session of that run. `attempt` counts the calls at this position from 0.
    Calls that differ in `key` or `attempt` are separate samples of the model and are paid for separately.
    """

    purpose: str
    messages: tuple[Message, ...]
    prompt: str = ""
    key: str = ""
    attempt: int = 0

    @property
    def position(self) -> tuple[str, str, int]:
        """The position of the call in a run: its purpose, key and attempt."""
        return (self.purpose, self.key, self.attempt)

    @property
    def text(self) -> str:
        """All messages joined into one text, each under a line with its role in brackets."""
        return "\n".join(f"[{message.role}]\n{message.text}" for message in self.messages)


@dataclass(frozen=True)
class Answer:
    """An oracle's answer to a call.

    `cost` is in dollars. `cost` and both token counts are None if they are unknown. `finish` is the server's word for
    why the model stopped, and `detail` is one line for people. `requests` is the number of requests that were sent.
    `taken` is what the budget counts for them; if the real cost never became known, it counts the most that they can
    have cost. `key` is the digest under which the answer is kept, and `cached` says whether it was answered earlier.
    """

    text: str
    outcome: CallOutcome = CallOutcome.OK
    model: str = ""
    finish: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None
    seconds: float = 0.0
    detail: str = ""
    requests: int = 0
    key: str = ""
    cached: bool = False
    taken: Spending = NOTHING


class Oracle(Protocol):
    """An object that answers calls."""

    @property
    def identity(self) -> Mapping[str, object]:
        """Everything besides the call that determines the answers, as data for JSON without secrets."""
        ...

    async def ask(self, call: Call) -> Answer:
        """Return the answer, whose outcome names any failure. Raises `UsageError` if the call cannot be made at all."""
        ...

    async def aclose(self) -> None:
        """Close connections and files."""
        ...


def call_key(identity: Mapping[str, object], call: Call) -> str:
    """Return a digest of everything that an answer depends on, as 64 hexadecimal digits."""
    messages = [[message.role, message.text] for message in call.messages]
    what = vars(call) | {"oracle": dict(identity), "messages": messages}
    text = json.dumps(what, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class PromptDiffers(UsageError):
    """The record lacks a call. `difference` is a unified diff from the most similar recorded call, or empty."""

    def __init__(self, call: Call, problem: str, difference: str = "") -> None:
        where = f"{call.purpose} {call.key or '(no key)'}, attempt {call.attempt}"
        super().__init__(f"cannot replay {where}: {problem}\n{difference}".rstrip())


def silent(line: str) -> None:
    """Ignore the line: a `Notify` for callers that want no messages."""
