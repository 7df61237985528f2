"""Asks models: prompts out, answers in, each of them paid once and kept for ever.

Nothing here plays, records in the database or runs a program: a call and its answer are values, and what came of a
call is a named outcome, never a crash. `openai` and `aiohttp` are known in `transport` alone, and are imported when a
model is asked for the first time.
"""

from tournament.oracles.oracle import Answer, Call, CallOutcome, Message, Oracle
from tournament.oracles.reply import Reply, read

__all__ = ("Answer", "Call", "CallOutcome", "Message", "Oracle", "Reply", "read")
