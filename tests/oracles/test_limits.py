"""The limits on calls: how many at once, how many in a minute, and the budget."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import anyio
import pytest

from tests.oracles.server import Does, completion, serve
from tournament.errors import UsageError
from tournament.oracles.chat import Chat
from tournament.oracles.limits import COOLDOWN, Budget, BudgetExceeded, Gate, Spending, Window
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_limits


def run(test: Callable[[], Awaitable[None]]) -> None:
    anyio.run(test)


def serve_round(gate: Gate) -> None:
    for _ in range(max(gate.limit, 4)):
        gate.served()


class Clock:
    """A clock whose time the tests set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tournament.oracles.limits.anyio.current_time", clock)
    return clock


def test_the_gate_doubles_its_limit_until_a_failure_and_then_raises_it_slowly(clock: Clock) -> None:
    gate = Gate(20, 100)
    limits = [gate.limit]
    for _ in range(3):
        serve_round(gate)
        limits.append(gate.limit)
    assert limits == [20, 40, 80, 100]
    gate.too_many(None)
    gate.too_many(None)
    assert gate.limit == 80, "a series of failures cuts the limit once"
    serve_round(gate)
    assert gate.limit == 80, "answers during the pause do not change the limit"
    clock.now += COOLDOWN
    serve_round(gate)
    assert gate.limit == 84
    gate.too_many(60)
    assert gate.limit == 67
    clock.now += COOLDOWN + 1
    gate.too_many(None)
    assert gate.limit == 67, "the pause that the server asks for lasts longer"


def test_the_gate_never_closes(clock: Clock) -> None:
    gate = Gate(3, 3)
    for _ in range(10):
        gate.too_many(None)
        clock.now += COOLDOWN
    assert gate.limit == 1
    serve_round(gate)
    serve_round(gate)
    assert gate.limit == 3


def test_the_gate_lets_no_more_calls_through_than_its_limit() -> None:
    async def test() -> None:
        gate = Gate(3, 3)
        inside = most = 0

        async def pass_through() -> None:
            nonlocal inside, most
            async with gate.limiter:
                inside += 1
                most = max(most, inside)
                await anyio.sleep(0.001)
                inside -= 1

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(pass_through)
        assert most == 3

    run(test)


def test_a_call_that_is_cancelled_at_a_full_gate_takes_no_slot() -> None:
    async def test() -> None:
        gate = Gate(1, 1)
        await gate.limiter.acquire_on_behalf_of("another call")
        with anyio.move_on_after(0.05) as scope:
            async with gate.limiter:
                pass
        gate.limiter.release_on_behalf_of("another call")
        assert scope.cancelled_caught
        with anyio.fail_after(5):
            async with gate.limiter:
                pass

    run(test)


def test_no_minute_has_more_requests_than_the_limit() -> None:
    async def test() -> None:
        window = Window(10, seconds=0.3)
        taken: list[tuple[float, int]] = []

        async def take(amount: int) -> None:
            await window.take(amount)
            taken.append((anyio.current_time(), amount))

        amounts = [random.Random(7).randint(1, 4) for _ in range(14)]
        async with anyio.create_task_group() as group:
            for amount in amounts:
                group.start_soon(take, amount)
        assert sorted(amount for _, amount in taken) == sorted(amounts)
        for start, _ in taken:
            assert sum(a for t, a in taken if start <= t < start + 0.29) <= 10

    run(test)


def test_a_call_above_the_limit_of_a_minute_goes_alone_and_unused_tokens_are_given_back() -> None:
    async def test() -> None:
        window = Window(10, seconds=1)
        began = anyio.current_time()
        taken = await window.take(50)
        assert anyio.current_time() - began < 0.9
        taken.amount = 4
        await window.take(6)
        assert anyio.current_time() - began < 0.9, "the first call used less than was held for it"
        await window.take(1)
        assert anyio.current_time() - began >= 1

    run(test)


def test_a_cancelled_call_does_not_block_the_minute_for_others() -> None:
    async def test() -> None:
        window = Window(1, seconds=0.2)
        await window.take(1)
        with anyio.move_on_after(0.05):
            await window.take(1)
        with anyio.fail_after(5):
            await window.take(1)

    run(test)


@pytest.mark.parametrize(("held", "most"), [("requests", 2), ("tokens", 250)])
def test_a_request_waits_for_its_minute(held: str, most: int) -> None:
    """Two calls fit into a minute. Of tokens this is so because they used more than was expected."""

    async def test() -> None:
        async with serve() as server:
            settings = Settings.load(max_tokens=50)
            limits = replace(make_limits(settings), **{held: Window(most, seconds=0.5)})
            oracle = Chat("m", server.url, settings, limits)
            began = anyio.current_time()
            for number in range(3):
                await oracle.ask(Call("critique", (Message("user", "?"),), key=str(number)))
            assert anyio.current_time() - began >= 0.5
            await oracle.aclose()

    run(test)


def test_the_held_amount_counts_until_the_cost_is_known() -> None:
    async def test() -> None:
        budget = Budget(calls=2, tokens=100)
        first = await budget.hold(60, None)
        with pytest.raises(BudgetExceeded, match="tokens are limited to 100"):
            await Budget(tokens=100, used=Spending(tokens=50)).hold(60, None)
        waited: list[str] = []

        async def wait() -> None:
            second = await budget.hold(60, None)
            waited.append("held")
            second.correct(20, None)
            budget.end(second)

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.sleep(0.05)
            assert not waited, "the first may yet turn out to have taken less"
            first.correct(30, Decimal("0.1"))
            budget.end(first)
        assert waited
        assert budget.used == Spending(2, 50, Decimal("0.1"))
        assert budget.held == Spending()
        with pytest.raises(BudgetExceeded, match="calls are limited to 2"):
            await budget.hold(1, None)

    run(test)


def test_a_rejected_call_is_free_and_an_unknown_cost_counts_as_the_held_amount() -> None:
    async def test() -> None:
        budget = Budget(calls=1)
        away = await budget.hold(10, None)
        away.release()
        budget.end(away)
        assert budget.used == Spending()
        unknown = await budget.hold(10, Decimal(3))
        budget.end(unknown)
        assert budget.used == Spending(1, 10, Decimal(3))

    run(test)


def test_a_budget_of_money_without_a_price_is_an_error() -> None:
    async def test() -> None:
        with pytest.raises(UsageError, match="price"):
            await Budget(money=Decimal(1)).hold(10, None)

    run(test)


@pytest.mark.parametrize(
    ("limit", "calls"),
    [
        ({"budget_calls": 17}, 17),
        ({"budget_tokens": 2000}, None),
        ({"budget_money": Decimal("0.01")}, None),
        ({"budget_calls": 0}, 0),
    ],
)
def test_fifty_calls_at_once_never_exceed_the_budget(
    limit: dict[str, Any], calls: int | None
) -> None:
    """Calls cost different amounts, up to all that is held for them. None is refused while the budget lasts."""
    draw = random.Random(3)

    async def test() -> None:
        def script(body: dict[str, Any], number: int) -> Does:
            usage = {"prompt_tokens": draw.randint(1, 20), "completion_tokens": draw.randint(0, 50)}
            return Does(completion("yes", usage=usage), delay=draw.random() / 50)

        async with serve(script) as server:
            settings = Settings.load(
                max_tokens=50, concurrency=50, price_in=10, price_out=100, **limit
            )
            limits = make_limits(settings)
            oracle = Chat("m", server.url, settings, limits)
            answers: list[Answer] = []

            async def ask(number: int) -> None:
                answers.append(
                    await oracle.ask(Call("critique", (Message("user", "?"),), key=str(number)))
                )

            async with anyio.create_task_group() as group:
                for number in range(100):
                    group.start_soon(ask, number)
            await oracle.aclose()
        good = [a for a in answers if a.outcome is CallOutcome.OK]
        assert {a.outcome for a in answers} <= {CallOutcome.OK, CallOutcome.BUDGET}
        assert len(answers) == 100
        assert len(good) == len(server.asked) == limits.budget.used.calls
        tokens = sum((a.input_tokens or 0) + (a.output_tokens or 0) for a in good)
        money = sum((a.cost for a in good if a.cost is not None), Decimal(0))
        assert limits.budget.used == Spending(len(good), tokens, money)
        assert calls is None or len(good) == calls
        assert tokens <= limit.get("budget_tokens", tokens)
        assert money <= limit.get("budget_money", money)
        if "budget_tokens" in limit:
            assert tokens > 2000 - 100, "the budget was used as far as possible"
        assert all(a.cost == 0 and a.requests == 0 for a in answers if a not in good)

    run(test)


def test_many_oracles_share_one_budget() -> None:
    async def test() -> None:
        async with serve() as server:
            settings = Settings.load(budget_calls=5)
            limits = make_limits(settings)
            oracles = [Chat(f"m{k}", server.url, settings, limits) for k in range(3)]
            for number in range(3):
                for oracle in oracles:
                    await oracle.ask(Call("critique", (Message("user", "?"),), key=str(number)))
            for oracle in oracles:
                await oracle.aclose()
            assert len(server.asked) == 5

    run(test)


def test_a_cancelled_call_counts_with_the_most_that_it_can_have_cost() -> None:
    async def test() -> None:
        async with serve(Does(delay=30)) as server:
            settings = Settings.load(max_tokens=50, price_in=0, price_out=10)
            limits = make_limits(settings)
            oracle = Chat("m", server.url, settings, limits)
            with anyio.move_on_after(0.2):
                await oracle.ask(Call("critique", (Message("user", "?"),)))
            await oracle.aclose()
            assert limits.budget.held == Spending()
            assert limits.budget.used.calls == 1
            assert limits.budget.used.tokens >= 50

    run(test)
