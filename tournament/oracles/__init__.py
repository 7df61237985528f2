"""Send prompts to language models and read their answers, so that each answer is paid for once and then kept.

Nothing in this package plays games, writes to the database or runs a program. A call and its answer are plain values,
and a call that fails has a named outcome instead of crashing. Only `transport` uses `openai` and `aiohttp`, and it is
imported when the first chat oracle is made.
"""

from tournament.oracles.oracle import Answer, Call, CallOutcome, Message, Oracle
from tournament.oracles.reply import Reply, read

__all__ = ("Answer", "Call", "CallOutcome", "Message", "Oracle", "Reply", "read")
