"""Settings come from options, then the environment, then `.env`; one text names the oracles."""

import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import anyio
import pytest

import tournament.oracles
from tests.oracles.server import Does, completion, error, in_turn, serve
from tournament.errors import NotFound, UsageError
from tournament.oracles.models import probe
from tournament.oracles.oracle import Answer, CallOutcome
from tournament.oracles.settings import OPENAI, Settings, checked_address
from tournament.oracles.spec import (
    Spec,
    chat_model,
    default_spec,
    make_limits,
    make_oracle,
    make_services,
    parse,
)

KEY = "sk-secret-0123456789"


def key_of(settings: Settings) -> str | None:
    return settings.api_key and settings.api_key.get_secret_value()


def test_options_go_before_the_environment_and_that_before_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path(".env").write_text(
        "TOURNAMENT_MODEL=file\nTOURNAMENT_RETRIES=1\nTOURNAMENT_MAX_TOKENS=11\nOPENAI_API_KEY=sk-file\nOTHER=1\n"
    )
    monkeypatch.setenv("TOURNAMENT_MODEL", "environment")
    monkeypatch.setenv("TOURNAMENT_RETRIES", "2")
    monkeypatch.setenv("TOURNAMENT_TEMPERATURE", "")
    settings = Settings.load(model="option", temperature=None)
    assert (settings.model, settings.retries, settings.max_tokens) == ("option", 2, 11)
    assert settings.temperature is None
    assert key_of(settings) == "sk-file"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment\n")
    assert key_of(Settings.load()) == "sk-environment"
    monkeypatch.setenv("TOURNAMENT_API_KEY", "sk-ours")
    assert key_of(Settings.load()) == "sk-ours"
    assert key_of(Settings.load(api_key="sk-option")) == "sk-option"


def test_every_setting_can_be_an_environment_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1/")
    monkeypatch.setenv("TOURNAMENT_BUDGET_MONEY", "1.50")
    monkeypatch.setenv("TOURNAMENT_BUDGET_CALLS", "7")
    monkeypatch.setenv("TOURNAMENT_CONCURRENCY", "5")
    monkeypatch.setenv("TOURNAMENT_TOKENS_PER_MINUTE", "9")
    settings = Settings.load()
    assert settings.base_url == "http://127.0.0.1:8080/v1"
    limits = make_limits(settings)
    assert (limits.gate.limit, limits.gate.most) == (5, 5)
    assert (limits.budget.money, limits.budget.calls, limits.budget.tokens) == (
        Decimal("1.5"),
        7,
        None,
    )
    assert (make_limits(Settings.load(concurrency=300)).gate.most) == 300


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": "hot"}, "--temperature must be a valid number"),
        ({"temperature": 3}, "--temperature must be less than or equal to 2"),
        ({"max_tokens": 0}, "--max-tokens must be greater than 0"),
        ({"retries": -1, "time_limit": 0}, "--retries must be"),
        ({"base_url": "localhost:8080"}, "http://127.0.0.1:8080/v1"),
        ({"base_url": "http://me:hunter2@host/v1"}, "OPENAI_API_KEY"),
        ({"base_url": "http://host/v1?api_key=hunter2"}, "OPENAI_API_KEY"),
        ({"base_url": "http://["}, "address"),
        ({"base_url": "http://host:99999999/"}, "address"),
        ({"api_key": "hunter2\u00fc"}, "is not a key"),
        ({"api_key": "hunter2\nHost: evil"}, "is not a key"),
        ({"budget_money": "nan"}, "--budget-money must be a finite number"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line_that_does_not_show_it(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Settings.load(**options)
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_setting_is_reported_under_the_name_by_which_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hunter2\u00fc")
    monkeypatch.setenv("OPENAI_BASE_URL", "hunter2")
    monkeypatch.setenv("TOURNAMENT_RETRIES", "-1")
    with pytest.raises(UsageError) as caught:
        Settings.load(max_tokens=0)
    problems = str(caught.value).split("; ")
    assert [problem.split(" is not ")[0].split(" must ")[0] for problem in problems] == [
        "TOURNAMENT_API_KEY or OPENAI_API_KEY",
        "TOURNAMENT_BASE_URL or OPENAI_BASE_URL",
        "--max-tokens",
        "TOURNAMENT_RETRIES",
    ]
    assert "hunter2" not in str(caught.value) and "Value error" not in str(caught.value)


def test_secrets_are_taken_out() -> None:
    settings = Settings.load(api_key=KEY)
    text = f"{KEY} none Bearer abcdefgh, sk-ab***cd task-force"
    assert settings.scrub(text) == "*** none Bearer ***, *** task-force"
    assert settings.without_key(f"{KEY} sk-ab***cd") == "*** sk-ab***cd"
    assert Settings.load(api_key="none").without_key("none") == "none"
    assert KEY not in str(vars(settings))
    assert checked_address(" https://a.b/v1/ ") == "https://a.b/v1"


def test_the_name_of_a_model_includes_its_server() -> None:
    here = Settings.load(base_url="http://here/v1", model="set")
    nowhere = Settings.load()
    assert chat_model("openai/o4-mini", nowhere) == ("o4-mini", OPENAI)
    assert chat_model("openai/o4-mini", here) == ("o4-mini", "http://here/v1")
    assert chat_model("Qwen/Qwen2.5-Coder", here) == ("Qwen/Qwen2.5-Coder", "http://here/v1")
    assert chat_model("", here) == ("set", "http://here/v1")
    assert chat_model("m@http://there:8080/v1/", here) == ("m", "http://there:8080/v1")
    assert chat_model("m@k@https://there", here) == ("m@k", "https://there")
    for wrong in ("", "m", "m@http://"):
        with pytest.raises(UsageError):
            chat_model(wrong, nowhere)


PASSWORDS = [
    f"chat:{text}"
    for text in (
        "m@http://me:hunter2@there/v1",
        "m@https://there/v1?key=hunter2",
        "m@HTTP://me:hunter2@there",
        "m@ftp://me:hunter2@there",
        "http://me:hunter2@there/v1",
        "https://hunter2@there",
        "m@http://me:hunter2@[",
    )
]


@pytest.mark.parametrize("text", PASSWORDS)
def test_no_message_shows_a_password_from_an_address(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        chat_model(parse(text).argument, Settings.load())
    [row] = anyio.run(probe, [text], Settings.load())
    assert not row.ok
    assert "hunter2" not in f"{caught.value}{row}"


def test_oracles_are_named_by_kind() -> None:
    assert parse("chat:openai/o4-mini") == Spec("chat", "openai/o4-mini")
    assert parse(" search ") == Spec("search")
    with pytest.raises(NotFound, match="did you mean: chat"):
        parse("chta:x")
    for text, wanted in (("replay", "replay:FILE"), ("manual:", "manual:FOLDER")):
        with pytest.raises(UsageError, match=wanted):
            parse(text)
    with pytest.raises(UsageError, match="search takes nothing"):
        parse("search:deep")
    services = make_services(Settings.load(api_key=KEY))
    made = make_oracle("chat:openai/o4-mini", services)
    assert made.identity["model"] == "o4-mini"
    with pytest.raises(UsageError, match="asks no model"):
        make_oracle("search", services)


def test_without_a_key_the_search_is_the_default_oracle() -> None:
    assert default_spec(Settings.load()) == "search"
    assert default_spec(Settings.load(model="openai/o4-mini")) == "search"
    assert default_spec(Settings.load(model="openai/o4-mini", api_key=KEY)) == "chat"
    assert default_spec(Settings.load(model="m", base_url="http://here/v1")) == "chat"
    assert default_spec(Settings.load(oracle="manual:services", api_key=KEY)) == "manual:services"


def test_probing_asks_each_model_one_question() -> None:
    async def run() -> None:
        replies = {
            "good": Does(completion("ready")),
            "shy": Does(completion("")),
            "gone": Does(error("The model does not exist"), status=404),
            "busy": Does({}, status=503),
        }
        async with serve(lambda body, number: replies[body["model"]]) as server:
            models = [f"chat:{name}@{server.url}" for name in replies]
            settings = Settings.load(budget_calls=0)
            rows = await probe([*models, "chat:m@http://127.0.0.1:9/v1", "chat:nobody"], settings)
        assert [row.ok for row in rows] == [True] + [False] * 5
        assert [row.outcome for row in rows] == [
            CallOutcome.OK,
            CallOutcome.EMPTY,
            CallOutcome.REJECTED,
            CallOutcome.SERVER_ERROR,
            CallOutcome.UNREACHABLE,
            CallOutcome.REJECTED,
        ]
        assert rows[4].detail == "no server at http://127.0.0.1:9/v1 (connection refused)"
        assert "which server has nobody" in rows[5].detail
        assert [row.model for row in rows[:4]] == models
        assert [row.model for row in rows[4:]] == ["chat:m@http://127.0.0.1:9/v1", "chat:nobody"]
        assert len(server.asked) == 4
        assert server.asked[0]["messages"] == [
            {"role": "user", "content": "Reply with one word: ready"}
        ]

    anyio.run(run)


def test_the_model_of_the_settings_is_named_with_its_server() -> None:
    async def run() -> None:
        async with serve(Does(completion("ready"))) as server:
            [row] = await probe(["chat"], Settings.load(base_url=server.url, model="set"))
        assert row.ok and row.model == f"chat:set@{server.url}"

    anyio.run(run)


@pytest.mark.parametrize("name", ["manual:services", "replay:r.duckdb", "search"])
def test_an_oracle_without_a_model_is_not_probed(name: str) -> None:
    [row] = anyio.run(probe, [name], Settings.load())
    assert not row.ok and f"{name.split(':')[0]} asks no model" in row.detail
    assert not Path("services").exists()


FENCE = """
import sys
import {module}
found = sorted({{name.split(".")[0] for name in sys.modules}} & set("{forbidden}".split()))
sys.exit(f"{{found}} imported" if found else 0)
"""


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("tournament", "openai aiohttp httpx2 jinja2 pydantic pydantic_settings genai_prices"),
        ("tournament.cli", "openai aiohttp httpx2 jinja2 pydantic pydantic_settings genai_prices"),
        ("tournament.oracles", "openai aiohttp httpx2 jinja2 pydantic_settings genai_prices"),
        ("tournament.oracles.spec", "openai aiohttp genai_prices"),
    ],
)
def test_heavy_modules_are_imported_only_when_needed(module: str, forbidden: str) -> None:
    checkout = str(Path(tournament.oracles.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": checkout}
    script = FENCE.format(module=module, forbidden=forbidden)
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


def test_only_an_answer_with_the_outcome_ok_is_good() -> None:
    assert Answer("x").outcome.good
    assert not CallOutcome.NO_CODE.good
    assert CallOutcome.NO_CODE.answered
    assert in_turn(Does())({}, 5).status == 200
