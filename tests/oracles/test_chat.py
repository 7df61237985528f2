"""The real client against a server that speaks the real protocol, well and badly."""

import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from decimal import Decimal
from email.utils import formatdate
from typing import Any

import anyio
import pytest

from tests.oracles.server import CODE, USAGE, Does, Script, completion, error, in_turn, serve
from tournament.errors import UsageError
from tournament.oracles.chat import Chat
from tournament.oracles.limits import Spending
from tournament.oracles.oracle import Answer, Call, CallOutcome, Message
from tournament.oracles.settings import OPENAI, Settings
from tournament.oracles.spec import make_limits

KEY = "sk-secret-0123456789"
SYSTEM, USER = Message("system", "You write bots."), Message("user", "Write one.")


def a_call(text: str = "Write one.", key: str = "chain/0") -> Call:
    return Call("critique", (SYSTEM, Message("user", text)), "digest", key)


def chat(url: str, printed: list[str] | None = None, model: str = "m", **options: Any) -> Chat:
    """Return a client for a server, with few retries and a short time limit."""
    settings = Settings.load(**{"api_key": KEY, "retries": 2, "time_limit": 5} | options)
    say = (lambda line: None) if printed is None else printed.append
    return Chat(model, url, settings, make_limits(settings), say)


def asked(script: Script | Does, calls: int = 1, **options: Any) -> tuple[list[Answer], Any]:
    """Make some calls, one after the other; return the answers, and the server afterwards."""

    async def run() -> tuple[list[Answer], Any]:
        async with serve(script) as server:
            oracle = chat(server.url, **options)
            answers = [await oracle.ask(a_call()) for _ in range(calls)]
            await oracle.aclose()
            return answers, server

    return anyio.run(run)


def one(script: Script | Does, **options: Any) -> Answer:
    answers, _ = asked(script, **options)
    return answers[0]


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses that the client chooses itself take no time. Pauses that the server asks for still do."""
    monkeypatch.setattr("tournament.oracles.chat.FIRST_PAUSE", 0.001)


def test_an_answer_has_all_details_of_the_call() -> None:
    [answer], server = asked(Does(), temperature=0.5, max_tokens=77)
    assert answer.text == CODE
    assert answer.outcome is CallOutcome.OK
    assert (answer.model, answer.finish, answer.requests) == ("m", "stop", 1)
    assert (answer.input_tokens, answer.output_tokens) == (100, 20)
    assert 0 < answer.seconds < 5
    assert server.asked[0] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "You write bots."},
            {"role": "user", "content": "Write one."},
        ],
        "temperature": 0.5,
        "max_tokens": 77,
    }
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "X-Stainless-OS" not in server.headers[0]


def test_a_setting_that_is_not_set_is_not_sent() -> None:
    _, server = asked(Does())
    assert "temperature" not in server.asked[0]


def test_without_a_key_a_placeholder_is_sent() -> None:
    async def run() -> None:
        async with serve() as server:
            settings = Settings.load()
            oracle = Chat("m", server.url, settings, make_limits(settings))
            await oracle.ask(a_call())
            await oracle.aclose()
            assert server.headers[0]["Authorization"] == "Bearer none"

    anyio.run(run)


ODD = {
    "no choices": ({"choices": []}, CallOutcome.EMPTY, ""),
    "choices that are none": ({"choices": "x"}, CallOutcome.EMPTY, ""),
    "content null": (completion(None), CallOutcome.EMPTY, ""),
    "content empty": (completion(""), CallOutcome.EMPTY, ""),
    "content in parts": (
        completion([{"type": "text", "text": "a"}, {"text": "b"}, 7]),
        CallOutcome.OK,
        "ab",
    ),
    "no message": ({"choices": [{"finish_reason": "stop"}]}, CallOutcome.EMPTY, ""),
    "half a character": (completion("a\ud800"), CallOutcome.OK, "a?"),
    "cut off": (completion("half", "length"), CallOutcome.TRUNCATED, "half"),
    "cut off while reasoning": (completion("", "length"), CallOutcome.TRUNCATED, ""),
    "filtered": (completion("so", "content_filter"), CallOutcome.REFUSED, "so"),
    "declined": (completion(None, refusal="I will not."), CallOutcome.REFUSED, "I will not."),
    "finish of another type": (completion("a", 7), CallOutcome.OK, "a"),
    "as plain text": (Does(completion("a"), content_type="text/plain"), CallOutcome.OK, "a"),
}


@pytest.mark.parametrize(("body", "outcome", "text"), ODD.values(), ids=ODD)
def test_odd_answers_have_named_outcomes(body: Any, outcome: CallOutcome, text: str) -> None:
    answer = one(body if isinstance(body, Does) else Does(body))
    assert (answer.outcome, answer.text) == (outcome, text)
    assert answer.requests == 1


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "overloaded"}},
        {"error": "overloaded"},
        b"<html>",
        b"",
        b"[]",
        b"null",
        b"[" * 5000,
    ],
)
@pytest.mark.usefixtures("no_pauses")
def test_nonsense_with_status_200_is_a_server_error(body: Any) -> None:
    answer = one(Does(body), retries=1)
    assert answer.outcome is CallOutcome.SERVER_ERROR
    assert answer.requests == 2
    assert "makes no sense" in answer.detail
    assert answer.cost is None


USAGES = {
    "missing": (None, None, None),
    "null": ({"usage": None}, None, None),
    "a text": ("lots", None, None),
    "numbers as text": ({"prompt_tokens": "7", "completion_tokens": "3"}, 7, 3),
    "fractions": ({"prompt_tokens": 7.0, "completion_tokens": 3.0}, 7, 3),
    "negative": ({"prompt_tokens": -7, "completion_tokens": 3}, None, 3),
    "infinite": ({"prompt_tokens": float("inf"), "completion_tokens": True}, None, None),
    "half": ({"prompt_tokens": 7}, 7, None),
    "lists": ({"prompt_tokens": [7], "completion_tokens": {"a": 1}}, None, None),
    "a cost of another type": (USAGE | {"cost": "cheap", "prompt_tokens_details": 3}, 100, 20),
}


@pytest.mark.parametrize(("usage", "prompt", "answer"), USAGES.values(), ids=USAGES)
def test_odd_usage_is_accepted_and_missing_numbers_stay_unknown(
    usage: Any, prompt: int | None, answer: int | None
) -> None:
    answered = one(Does(completion(usage=usage)), price_in=1, price_out=1)
    assert (answered.input_tokens, answered.output_tokens) == (prompt, answer)
    assert (answered.cost is None) == (prompt is None or answer is None)


def test_an_unknown_price_is_none_and_not_zero() -> None:
    assert one(Does(), model="Qwen2.5-Coder-0.5B").cost is None
    assert one(Does(), model="gpt-4o-mini").cost is None, "another server has other prices"
    assert one(Does(), price_in=2, price_out=10).cost == Decimal("0.0004")


REJECTED: dict[str, tuple[int, object, CallOutcome, str]] = {
    "key": (401, error("Incorrect API key provided"), CallOutcome.REJECTED, "OPENAI_API_KEY"),
    "model": (404, error("The model `m` does not exist"), CallOutcome.REJECTED, "model's name"),
    "address": (404, b"<html>Not Found", CallOutcome.REJECTED, "server's address"),
    "request": (400, {"detail": "bad"}, CallOutcome.REJECTED, "bad"),
    "credit": (
        429,
        error("no credit", code="insufficient_quota"),
        CallOutcome.REJECTED,
        "no credit",
    ),
    "credit by type": (
        429,
        error("no", type="insufficient_quota", code=1),
        CallOutcome.REJECTED,
        "",
    ),
    "too long": (400, error("", code="context_length_exceeded"), CallOutcome.TOO_LONG, ""),
    "too long, llama.cpp": (
        400,
        error("request (6030 tokens) exceeds the available context size (4096 tokens)"),
        CallOutcome.TOO_LONG,
        "6030",
    ),
    "filter": (400, error("no", code="content_filter"), CallOutcome.REFUSED, ""),
    "one slot": (400, error("1 <= value <= 1"), CallOutcome.REJECTED, ""),
    "empty": (400, b"", CallOutcome.REJECTED, "400"),
}


@pytest.mark.parametrize(("status", "body", "outcome", "detail"), REJECTED.values(), ids=REJECTED)
def test_an_error_that_a_retry_cannot_help_is_not_retried(
    status: int, body: object, outcome: CallOutcome, detail: str
) -> None:
    answer = one(Does(body, status=status))
    assert (answer.outcome, answer.requests) == (outcome, 1)
    assert detail in answer.detail
    assert "\n" not in answer.detail
    assert answer.cost == 0


PASSING = {
    "429": Does(error("slow down"), status=429),
    "500": Does(b"oops", status=500),
    "503": Does(error("overloaded"), status=503),
    "529": Does({}, status=529),
    "408": Does({}, status=408),
    "dropped before": Does(drop="before"),
    "dropped in the middle": Does(drop="middle"),
    "nonsense": Does(b"{"),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
@pytest.mark.usefixtures("no_pauses")
def test_a_passing_error_is_retried_a_limited_number_of_times(trouble: Does) -> None:
    [answer], server = asked(in_turn(trouble, trouble, Does()))
    assert (answer.outcome, answer.text, answer.requests) == (CallOutcome.OK, CODE, 3)
    [answer], server = asked(in_turn(trouble))
    assert answer.requests == 3 == len(server.asked)
    expected = {"429": CallOutcome.RATE_LIMITED}.get(str(trouble.status), CallOutcome.SERVER_ERROR)
    assert answer.outcome is (CallOutcome.DROPPED if trouble.drop else expected)
    assert server.url in answer.detail


@pytest.mark.usefixtures("no_pauses")
def test_a_rate_limited_request_uses_nothing_of_the_budget() -> None:
    away = Does(error("too many"), status=429)
    [answer], server = asked(in_turn(away, away, Does()), budget_calls=1)
    assert answer.outcome is CallOutcome.OK
    assert (answer.requests, answer.taken.calls, len(server.asked)) == (3, 1, 3)


def test_retry_after_is_understood_in_seconds_milliseconds_and_as_a_date() -> None:
    for headers in (
        lambda: {"retry-after": "0.3"},
        lambda: {"retry-after-ms": "300", "retry-after": "30"},
        lambda: {"retry-after": formatdate(time.time() + 2, usegmt=True)},
    ):
        busy = lambda: Does({}, status=429, headers=headers())  # noqa: B023, E731
        answer = one(lambda body, number: Does() if number else busy())  # noqa: B023
        assert answer.outcome is CallOutcome.OK
        assert 0.3 <= answer.seconds < 4


@pytest.mark.usefixtures("no_pauses")
def test_a_senseless_retry_after_is_ignored() -> None:
    for value in ("soon", "nan", "-5", "", "inf", "Mon, 99 Foo 2020"):
        answer = one(in_turn(Does({}, status=503, headers={"retry-after": value}), Does()))
        assert answer.outcome is CallOutcome.OK
        assert answer.seconds < 4


def test_a_call_ends_if_the_server_asks_for_too_long_a_wait() -> None:
    for status, outcome in ((429, CallOutcome.RATE_LIMITED), (503, CallOutcome.SERVER_ERROR)):
        answer = one(Does({}, status=status, headers={"retry-after": "130"}))
        assert (answer.outcome, answer.requests) == (outcome, 1)
        assert answer.seconds < 30
        assert "130 seconds" in answer.detail


@pytest.mark.parametrize(("concurrency", "order"), [(1, "aab"), (3, "aba")])
def test_a_call_that_must_wait_keeps_its_slot_while_others_continue(
    concurrency: int, order: str
) -> None:
    async def run() -> None:
        busy = Does({}, status=429, headers={"retry-after": "0.5"})
        async with serve(in_turn(busy, Does())) as server:
            oracle = chat(server.url, concurrency=concurrency)
            async with anyio.create_task_group() as group:
                for text in "ab":
                    group.start_soon(oracle.ask, a_call(text))
                    await anyio.sleep(0.1)
            await oracle.aclose()
            assert "".join(body["messages"][-1]["content"] for body in server.asked) == order

    anyio.run(run)


def picky(body: dict[str, Any], number: int) -> Does:
    """Reply like a reasoning model, which refuses several parameters."""
    if "max_tokens" in body:
        message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
        return Does(error(message, param="max_tokens", code="unsupported_parameter"), status=400)
    if "temperature" in body:
        message = "Unsupported value: 'temperature' does not support 0.2 with this model. Only 1 is supported."
        return Does(error(message, param="temperature", code="unsupported_value"), status=400)
    if body["messages"][0]["role"] == "system":
        return Does(error("System role not supported"), status=400)
    return Does()


def test_a_parameter_that_a_model_refuses_is_left_out_from_then_on() -> None:
    printed: list[str] = []
    answers, server = asked(picky, calls=3, temperature=0.2, printed=printed, retries=0)
    assert [answer.outcome for answer in answers] == [CallOutcome.OK] * 3
    assert [answer.requests for answer in answers] == [4, 1, 1]
    assert server.asked[-1] == {
        "model": "m",
        "messages": [{"role": "user", "content": "You write bots.\n\nWrite one."}],
        "max_completion_tokens": 8192,
    }
    assert len(printed) == 3
    assert all(line.startswith("m ") for line in printed)


def test_a_model_that_refuses_everything_is_asked_three_times_at_most() -> None:
    answer = one(
        lambda body, number: Does(error("no temperature support, no system role"), status=400)
    )
    assert answer.outcome is CallOutcome.REJECTED
    assert answer.requests <= 3


def test_a_slow_answer_is_given_up() -> None:
    answer = one(Does(delay=5), time_limit=0.3)
    assert (answer.outcome, answer.requests) == (CallOutcome.TIMEOUT, 1)
    assert 0.3 <= answer.seconds < 4
    assert answer.detail == "no answer within 0.3 seconds"
    assert answer.cost is None


def test_a_missing_server_is_reported_at_once() -> None:
    async def run() -> Answer:
        oracle = chat("http://127.0.0.1:9/v1")
        answer = await oracle.ask(a_call())
        await oracle.aclose()
        return answer

    answer = anyio.run(run)
    assert (answer.outcome, answer.requests) == (CallOutcome.UNREACHABLE, 1)
    assert answer.detail == "no server at http://127.0.0.1:9/v1 (connection refused)"
    assert answer.seconds < 5


def test_a_server_that_accepts_no_connection_counts_as_unreachable_and_not_as_slow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tournament.oracles.transport.CONNECT_SECONDS", 0.2)
    full = socket.create_server(("127.0.0.1", 0), backlog=0)
    waiting = [socket.socket() for _ in range(3)]

    async def run() -> Answer:
        oracle = chat(f"http://127.0.0.1:{full.getsockname()[1]}/v1")
        answer = await oracle.ask(a_call())
        await oracle.aclose()
        return answer

    with ExitStack() as closing:
        for each in (full, *waiting):
            closing.enter_context(each)
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        answer = anyio.run(run)
    assert (answer.outcome, answer.taken.calls) == (CallOutcome.UNREACHABLE, 0)
    assert "no answer within 0.2 seconds" in answer.detail and "no server at" in answer.detail


def test_a_host_that_does_not_exist_is_named() -> None:
    async def run() -> Answer:
        oracle = chat("http://no-such-host.invalid/v1")
        answer = await oracle.ask(a_call())
        await oracle.aclose()
        return answer

    answer = anyio.run(run)
    assert answer.outcome is CallOutcome.UNREACHABLE
    assert answer.detail.startswith("no server at http://no-such-host.invalid/v1 (")


@pytest.mark.usefixtures("no_pauses")
def test_calls_to_a_server_that_went_away_are_retried() -> None:
    async def run() -> tuple[Answer, Answer]:
        async with serve() as server:
            oracle = chat(server.url)
            await oracle.ask(a_call())
        gone = await oracle.ask(a_call())
        await oracle.aclose()
        return gone, gone

    gone, _ = anyio.run(run)
    assert gone.outcome in (CallOutcome.UNREACHABLE, CallOutcome.DROPPED)
    assert gone.requests == 3


def raw(reply: bytes) -> Callable[[Any], Awaitable[None]]:
    async def handle(stream: Any) -> None:
        async with stream:
            await stream.receive()
            await stream.send(reply)

    return handle


@pytest.mark.parametrize(
    "reply", [b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"\0\xff"]
)
@pytest.mark.usefixtures("no_pauses")
def test_nonsense_from_a_port_is_a_dropped_call_and_no_exception(reply: bytes) -> None:
    async def run() -> Answer:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with listener, anyio.create_task_group() as group:
            group.start_soon(listener.serve, raw(reply))
            oracle = chat(f"http://127.0.0.1:{port}/v1")
            answer = await oracle.ask(a_call())
            await oracle.aclose()
            group.cancel_scope.cancel()
        return answer

    assert anyio.run(run).outcome is CallOutcome.DROPPED


@pytest.mark.usefixtures("no_pauses")
def test_a_connection_that_the_server_closed_in_between_uses_no_try() -> None:
    """The server closes connections that were kept open. As nothing was sent over them, no try is used up."""

    async def run() -> list[Answer]:
        answers = []
        async with serve() as server:
            oracle = chat(server.url, retries=1)
            for _ in range(5):
                answers.append(await oracle.ask(a_call()))
                await server.hang_up()
            await oracle.aclose()
        return answers

    assert {answer.outcome for answer in anyio.run(run)} == {CallOutcome.OK}


def test_the_call_after_a_cancelled_one_works() -> None:
    async def run() -> None:
        asked_once = anyio.Event()

        def script(body: dict[str, Any], number: int) -> Does:
            asked_once.set()
            return Does(delay=30 if number == 0 else 0)

        async with serve(script) as server:
            oracle = chat(server.url)
            async with anyio.create_task_group() as group:
                group.start_soon(oracle.ask, a_call())
                await asked_once.wait()
                group.cancel_scope.cancel()
            assert (await oracle.ask(a_call())).outcome is CallOutcome.OK
            await oracle.aclose()

    anyio.run(run)


def test_no_text_of_the_client_shows_a_key() -> None:
    refusal = error(f"Incorrect API key: {KEY}, or sk-ab****cdef. Header was Bearer {KEY}")
    rejected = one(Does(refusal, status=401))
    echoed = one(Does(completion(f"your key is {KEY}")))
    nonsense = one(Does(f"<{KEY}>".encode()), retries=0)
    settings = Settings.load(api_key=KEY)
    oracle = chat("http://127.0.0.1:9/v1")
    shown = f"{rejected}{echoed}{nonsense}{settings!r}{settings}{oracle.identity}{vars(oracle)}"
    assert "sk-" not in shown
    assert "Incorrect API key: ***, or ***" in rejected.detail


def test_openai_without_a_key_is_refused() -> None:
    settings = Settings.load()
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        Chat("o4-mini", OPENAI, settings, make_limits(settings))


@pytest.mark.parametrize("price", ["price_in", "price_out"])
def test_one_price_without_the_other_is_an_error(price: str) -> None:
    with pytest.raises(UsageError, match="--price-in and --price-out"):
        chat("http://127.0.0.1:9/v1", **{price: 1})


def test_a_budget_in_dollars_without_a_known_price_is_refused() -> None:
    settings = Settings.load(budget_money=1)
    with pytest.raises(UsageError, match="no price is known for m at"):
        Chat("m", "http://127.0.0.1:9/v1", settings, make_limits(settings))
    priced = Settings.load(budget_money=1, api_key=KEY)
    Chat("o4-mini", OPENAI, priced, make_limits(priced))


def test_five_hundred_calls_can_be_made_at_once() -> None:
    async def run() -> list[Answer]:
        answers: list[Answer] = []
        async with serve(Does(delay=2)) as server:
            oracle = chat(server.url, concurrency=500)

            async def ask(number: int) -> None:
                answers.append(await oracle.ask(a_call(f"call {number}")))

            async with anyio.create_task_group() as group:
                for number in range(500):
                    group.start_soon(ask, number)
            await oracle.aclose()
            assert server.most_under_way > 300
            assert set(server.answered.values()) == {1}
        return answers

    answers = anyio.run(run)
    assert {answer.outcome for answer in answers} == {CallOutcome.OK}
    assert len(answers) == 500


def test_the_proxy_of_the_environment_is_used_with_its_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        async with serve() as server:
            address = server.url.removesuffix("/v1").removeprefix("http://")
            monkeypatch.setenv("HTTP_PROXY", f"http://me:secret@{address}")
            oracle = chat("http://models.invalid/v1")
            assert (await oracle.ask(a_call())).outcome is CallOutcome.OK
            await oracle.aclose()
            assert server.headers[0]["Host"] == "models.invalid"
            assert server.headers[0]["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"

    anyio.run(run)


def test_a_dropped_request_counts_with_the_most_tokens_that_it_can_use(
    no_pauses: None,
) -> None:
    whole = one(Does())
    retried = one(in_turn(Does(drop="before"), Does()))
    assert whole.taken == Spending(1, 120)
    assert retried.taken.calls == 2
    assert retried.taken.tokens > 120 + 8192


@pytest.mark.parametrize("status", [500, 503])
def test_a_request_on_which_the_server_failed_stays_counted_since_the_model_may_have_been_asked(
    no_pauses: None, status: int
) -> None:
    retried = one(in_turn(Does({}, status=status), Does()))
    assert retried.taken.calls == 2
    assert retried.taken.tokens > 120 + 8192
