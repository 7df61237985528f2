"""What an oracle is: a call goes in, an answer comes out, and whatever can come of it has a name."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from tournament.errors import UsageError
from tournament.oracles.limits import NOTHING, Spending

PURPOSES = ("write", "critique", "rewrite", "probe")
WRITING = frozenset({"write", "rewrite"})
"""Purposes of calls that ask for a program."""

Say = Callable[[str], None]
"""Takes a line for whoever runs the program."""


class CallOutcome(StrEnum):
    """What came of a call.

    With `OK` and `SEVERAL_BLOCKS` there is what was asked for. The others are told to the next attempt.
    """

    OK = "ok"
    SEVERAL_BLOCKS = "several_blocks"
    """More than one block of code: the last one that defines the bot is taken."""

    NO_CODE = "no_code"
    WRONG_FUNCTION = "wrong_function"
    DIFF = "diff"
    BAD_TEXT = "bad_text"
    """The program has characters that no program may have, or too many."""
    TRUNCATED = "truncated"
    EMPTY = "empty"
    REFUSED = "refused"

    TOO_LONG = "too_long"
    """The prompt does not fit into the model's context."""
    REJECTED = "rejected"
    """The server will not serve this request, however often it is sent: key, model, credit."""
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    DROPPED = "dropped"
    """The server closed the connection before it had answered."""
    UNREACHABLE = "unreachable"
    BUDGET = "budget"
    """Nothing was sent, for the budget is spent."""

    @property
    def good(self) -> bool:
        """Whether what was asked for is there."""
        return self in (CallOutcome.OK, CallOutcome.SEVERAL_BLOCKS)

    @property
    def answered(self) -> bool:
        """Whether the model answered at all: such a call is paid for, and is not to be made again."""
        return self not in _UNANSWERED


_UNANSWERED = frozenset(
    {
        CallOutcome.TOO_LONG,
        CallOutcome.REJECTED,
        CallOutcome.TIMEOUT,
        CallOutcome.RATE_LIMITED,
        CallOutcome.SERVER_ERROR,
        CallOutcome.DROPPED,
        CallOutcome.UNREACHABLE,
        CallOutcome.BUDGET,
    }
)


@dataclass(frozen=True)
class Message:
    """A part of a prompt: `role` is `system` or `user`."""

    role: str
    text: str


@dataclass(frozen=True)
class Call:
    """What is asked, and which asking of it this is.

    `prompt` is the digest of the template and of what was rendered. `key` is the place in a run that the call belongs
    to, the same whenever the run is started again, and `attempt` counts from 0 there: calls that differ in either are
    different samples of the model, and are paid for separately.
    """

    purpose: str
    messages: tuple[Message, ...]
    prompt: str = ""
    key: str = ""
    attempt: int = 0

    @property
    def place(self) -> tuple[str, str, int]:
        """Where in a run the call belongs."""
        return (self.purpose, self.key, self.attempt)

    @property
    def text(self) -> str:
        """The messages as one text."""
        return "\n".join(f"[{message.role}]\n{message.text}" for message in self.messages)


@dataclass(frozen=True)
class Answer:
    """What came back.

    `cost` is in dollars, and None where it is not known; so are the tokens. `finish` is why the model stopped, in the
    server's words; `detail` one line for people; `requests` how many requests it took, and `taken` what a budget counts
    for them: the most that it can have been, where it was never learnt. `key` is the digest under which the answer is
    kept, and `cached` says that it was not asked for again.
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
    """Answers calls."""

    @property
    def identity(self) -> Mapping[str, object]:
        """All that its answers depend on beside the call, as JSON-ready data without secrets."""
        ...

    async def ask(self, call: Call) -> Answer:
        """The answer. What goes wrong on the way is its outcome; raises `UsageError` for a call that cannot be put."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and files."""
        ...


_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def call_key(identity: Mapping[str, object], call: Call) -> str:
    """A digest of everything that an answer depends on, 64 hexadecimal digits."""
    what = {
        "oracle": dict(identity),
        "purpose": call.purpose,
        "messages": [[message.role, message.text] for message in call.messages],
        "prompt": call.prompt,
        "key": call.key,
        "attempt": call.attempt,
    }
    return hashlib.sha256(_JSON.encode(what).encode()).hexdigest()


class PromptDiffers(UsageError):
    """A call is not among the recorded ones; `difference` is a unified diff from the nearest."""

    def __init__(self, call: Call, problem: str, difference: str) -> None:
        self.difference = difference
        place = f"{call.purpose} {call.key or '(no key)'}, attempt {call.attempt}"
        super().__init__(f"cannot replay {place}: {problem}\n{difference}".rstrip())


def silent(line: str) -> None:
    """Say nothing."""
