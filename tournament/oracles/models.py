"""Asks each model one tiny question before money is spent."""

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from tournament.errors import UsageError
from tournament.oracles.oracle import CallOutcome, Say, silent
from tournament.oracles.prompts import Prompts
from tournament.oracles.settings import Settings
from tournament.oracles.spec import described, make_desk, make_oracle, parse


@dataclass(frozen=True)
class Health:
    """How a model answered, `model` being its name and server: `outcome` and `detail` as of any call."""

    model: str
    ok: bool
    seconds: float
    outcome: CallOutcome
    detail: str = ""


async def probe(models: Sequence[str], settings: Settings, say: Say = silent) -> list[Health]:
    """Ask every model (`chat:...`) at the same time, each once; the rows are in the order of the models.

    Nothing is kept, retried or charged to a budget. What is wrong with a name is a row too.
    """
    once = settings.model_copy(update={"retries": 0, **dict.fromkeys(_BUDGETS)})
    rows: dict[int, Health] = {}

    async def ask(number: int, model: str) -> None:
        rows[number] = await _ask(model, once, say)

    async with anyio.create_task_group() as group:
        for number, model in enumerate(models):
            group.start_soon(ask, number, model)
    return [rows[number] for number in range(len(models))]


_BUDGETS = ("budget_money", "budget_tokens", "budget_calls")


async def _ask(model: str, settings: Settings, say: Say) -> Health:
    call = Prompts(settings.prompts).render("probe").call("probe", model)
    try:
        if (kind := parse(model).kind) != "chat":
            raise UsageError(f"{kind} asks no model: chat:NAME does")
        shown = described(model, settings)
        async with aclosing(make_oracle(model, make_desk(settings, say=say))) as oracle:
            answer = await oracle.ask(call)
    except UsageError as error:
        return Health(_without_address(model), False, 0.0, CallOutcome.REJECTED, str(error))
    return Health(shown, answer.outcome.good, answer.seconds, answer.outcome, answer.detail)


def _without_address(model: str) -> str:
    """What was given as a model's name, without an address that may have a password in it."""
    return re.split("@|://", model)[0]
