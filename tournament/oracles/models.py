"""Check models by asking each of them one tiny question, before a run spends money on them."""

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from tournament.errors import UsageError
from tournament.oracles.oracle import CallOutcome
from tournament.oracles.prompts import Prompts
from tournament.oracles.settings import Settings
from tournament.oracles.spec import described, make_oracle, make_services, parse


@dataclass(frozen=True)
class Health:
    """The result of asking one model.

    `model` is its name and server, `seconds` the time it took; `outcome` and `detail` are those of the answer.
    """

    model: str
    ok: bool
    seconds: float
    outcome: CallOutcome
    detail: str = ""


async def probe(models: Sequence[str], settings: Settings) -> list[Health]:
    """Ask all models (`chat:...`) once, at the same time, and return the results in the order of the models.

    No answer is kept, no request is retried, and no budget applies. A wrong name gives a failed result and no
    exception.
    """
    budgets = ("budget_money", "budget_tokens", "budget_calls")
    once = settings.model_copy(update={"retries": 0, **dict.fromkeys(budgets)})
    rows: dict[int, Health] = {}

    async def ask(number: int, model: str) -> None:
        rows[number] = await _ask(model, once)

    async with anyio.create_task_group() as group:
        for number, model in enumerate(models):
            group.start_soon(ask, number, model)
    return [rows[number] for number in range(len(models))]


async def _ask(model: str, settings: Settings) -> Health:
    call = Prompts(settings.prompts).render("probe").call("probe", model)
    try:
        if (kind := parse(model).kind) != "chat":
            raise UsageError(f"{kind} asks no model: name chat:MODEL")
        shown = described(model, settings)
        async with aclosing(make_oracle(model, make_services(settings))) as oracle:
            answer = await oracle.ask(call)
    except UsageError as error:
        # The address is left out, since it may contain a password.
        name = re.split("@|://", model)[0]
        return Health(name, False, 0.0, CallOutcome.REJECTED, str(error))
    return Health(shown, answer.outcome.good, answer.seconds, answer.outcome, answer.detail)
