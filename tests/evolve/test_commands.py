"""Evolution from the command line: records, replays, budgets, figures, lineages, and messages about bad input."""

import json
import random
import re
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.evolve.conftest import (
    Command,
    Serve,
    always,
    asks_for_critique,
    code,
    prompt_of,
    reply_with,
)
from tests.evolve.scripts import CRITIQUE, author, slow_author
from tests.oracles.server import Does, completion, error
from tournament.store import Record, RecordedStep

KEY = "sk-very-secret-0123456789"
CHAINS = "select name, oracles, plan from chains order by chain"
CALLS = "select * exclude (asked_at) from calls order by key"

Rows = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """A function that returns the rows which answer a query."""

    def ask(query: str, db: str = "r.duckdb") -> list[tuple[Any, ...]]:
        with Record.read(tmp_path / db) as record:
            return record.sql(query)[1]

    return ask


Steps = Callable[..., list[RecordedStep]]


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    """A function that returns the steps of all chains in a record."""

    def read(db: str = "r.duckdb") -> list[RecordedStep]:
        with Record.read(tmp_path / db) as record:
            [(chains,)] = record.sql("select count(*) from chains")[1]
            return [step for chain in range(chains) for step in record.steps(chain + 1)]

    return read


def evolve_words(oracle: str, db: str = "r.duckdb", *more: object) -> tuple[object, ...]:
    plan = ("-K", 2, "-T", 1, "--episodes", 2, "--workers", 1)
    return ("evolve", "--game", "climbing", "--oracle", oracle, *plan, "--db", db, *more)


def test_the_best_profile_is_reported_at_the_end(command: Command, rows: Rows) -> None:
    done = command(*evolve_words("search", "r.duckdb", "--json", "--evaluate", 3))
    best = done.json
    assert best["welfare"] == best["optimum"] == 22.0
    assert [each["seat"] for each in best["programs"]] == [0, 1]
    values = {"welfare": 22.0, "optimum": 22.0, "payoffs": [11.0, 11.0]}
    assert best["evaluation"] == {"matches": 3} | values
    assert best["published_optimum"] is None
    assert [line.split(":")[0] for line in done.err.splitlines() if "step" in line] == [
        f"pibr_0_0, step {number}" for number in range(4)
    ]
    words = command("evolve", "--game", "climbing", "-K", 1, "-T", 1, "--db", "r.duckdb").out
    assert "best welfare 22 (optimum: 22)" in words
    assert rows("select oracles from chains") == [(["search"],)] * 2


def test_the_same_command_again_makes_no_call_and_changes_nothing(
    command: Command, server: Serve, rows: Rows, steps: Steps
) -> None:
    with server(author) as scripted:
        words = evolve_words(f"chat:m@{scripted.url}", "r.duckdb", "--chains", 2, "--json")
        first = command(*words)
        asked = len(scripted.asked)
        record = rows(CHAINS), rows(CALLS), steps()
        assert asked == len(record[1]) == 2 * 5
        second = command(*words)
        assert len(scripted.asked) == asked
    assert second.json == first.json
    assert (rows(CHAINS), rows(CALLS), steps()) == record
    assert [step.outcome for step in steps()] == ["ok", "illegal", "error", "illegal"] * 2
    assert all((step.welfare is None) == (step.outcome != "ok") for step in steps())


def test_a_record_is_replayed_word_for_word_without_a_server(
    command: Command, server: Serve, rows: Rows, steps: Steps
) -> None:
    with server(author) as scripted:
        first = command(*evolve_words(f"chat:m@{scripted.url}", "r.duckdb", "--json"))
        asked = len(scripted.asked)
        second = command(*evolve_words("replay:r.duckdb", "s.duckdb", "--json"))
        assert len(scripted.asked) == asked
    assert second.json == first.json
    assert rows(CALLS, "s.duckdb") == rows(CALLS)
    assert steps("s.duckdb") == steps()
    again = command(*evolve_words("replay:s.duckdb", "s.duckdb", "--json"))
    assert again.json == first.json


def test_a_replay_shows_a_prompt_that_differs_from_the_recorded_one(
    command: Command, server: Serve
) -> None:
    with server(author) as scripted:
        command(*evolve_words(f"chat:m@{scripted.url}"))
    done = command(*evolve_words("replay:r.duckdb", "s.duckdb", "--objective", "own"), code=2)
    assert "cannot replay write pibr_0_0/0/0/0, attempt 0" in done.err
    assert "-Make the total of all seats' payoffs" in done.err
    assert "+Make the payoff of your own seat" in done.err


def test_a_budget_covers_all_sessions_of_a_run(
    command: Command, server: Serve, steps: Steps
) -> None:
    with server(author) as scripted:
        oracle = f"chat:m@{scripted.url}"
        command(*evolve_words(oracle, "whole.duckdb", "--json"))
        asked = len(scripted.asked)
        assert asked == 5
        for _ in range(2):
            done = command(*evolve_words(oracle, "r.duckdb", "--budget-calls", 3), code=None)
            assert (
                "pibr_0_0 stopped: budget: the budget is used up: calls are limited to 3"
                in done.err
            )
            assert len(scripted.asked) == asked + 3
        command(*evolve_words(oracle))
        assert len(scripted.asked) == asked + asked
    assert steps() == steps("whole.duckdb")


def test_calls_without_an_answer_still_count_when_a_run_continues(
    command: Command, server: Serve
) -> None:
    with server(Does(delay=5)) as scripted:
        limits = ("--time-limit", 0.2, "--max-tokens", 20000, "--budget-tokens", 40000)
        words = evolve_words(f"chat:m@{scripted.url}", "r.duckdb", *limits, "--retries", 0)
        for script in (scripted.script, author):
            scripted.script = script
            assert (
                "the budget is used up: tokens are limited to 40,000" in command(*words, code=1).err
            )
            assert len(scripted.asked) == 1


def test_a_budget_of_money_or_tokens_is_not_exceeded(
    command: Command, server: Serve, rows: Rows
) -> None:
    prices = ("--price-in", 1, "--price-out", 1)

    def long_author(body: dict[str, Any], number: int) -> Does:
        usage = {"prompt_tokens": 9_000, "completion_tokens": 1_000}
        return reply_with(code(f"# {number}\n{always('b')}"), usage=usage)

    with server(long_author) as scripted:
        oracle = f"chat:m@{scripted.url}"
        done = command(*evolve_words(oracle, "r.duckdb", "--budget-tokens", 50_000))
        assert "the budget is used up: tokens are limited to 50,000" in done.err
        done = command(*evolve_words(oracle, "s.duckdb", *prices, "--budget-money", "0.05"))
        assert "the budget is used up: dollars are limited to 0.05" in done.err
        unknown = command(*evolve_words(oracle, "t.duckdb", "--budget-money", "0.05"), code=2)
        assert "no price is known" in unknown.err
    [(tokens,)] = rows("select sum(input_tokens + output_tokens) from calls")
    [(cost,)] = rows("select sum(cost) from calls", "s.duckdb")
    assert 20_000 <= tokens <= 50_000
    assert 0.02 <= cost <= 0.05
    assert not Path("t.duckdb").exists()


def test_calls_tokens_and_cost_are_reported_and_an_unknown_price_stays_unknown(
    command: Command, server: Serve, rows: Rows
) -> None:
    with server(author) as scripted:
        oracle = f"chat:m@{scripted.url}"
        unknown = command(*evolve_words(oracle, "r.duckdb"))
        priced = ("--price-in", 1, "--price-out", 2)
        known = command(*evolve_words(oracle, "s.duckdb", *priced))
        shown = command(*evolve_words(oracle, "s.duckdb", *priced, "--json")).json["spending"]
    assert "5 calls to models: 500 input tokens and 100 output tokens, price unknown" in unknown.out
    assert "5 calls to models: 500 input tokens and 100 output tokens, 0.00070 dollars" in known.out
    tokens = {"input_tokens": 500, "output_tokens": 100, "uncounted": 0}
    assert shown == {"calls": 5, "cost": 0.0007} | tokens
    assert {cost for (cost,) in rows("select cost from spending")} == {None}
    assert rows("select round(sum(cost), 6) from spending", "s.duckdb") == [(0.0007,)]
    assert "calls to models" not in command(*evolve_words("search", "t.duckdb")).out


def test_a_call_that_the_budget_refused_is_not_counted_as_made(
    command: Command, server: Serve, rows: Rows
) -> None:
    with server(author) as scripted:
        priced = ("--price-in", 1, "--price-out", 2, "--budget-calls")
        one = command(*evolve_words(f"chat:m@{scripted.url}", "r.duckdb", *priced, 1), code=None)
        assert (
            "\n1 call to models: 100 input tokens and 20 output tokens, 0.00014 dollars" in one.out
        )
        command(*evolve_words(f"chat:m@{scripted.url}", "s.duckdb", *priced, 3), code=None)
        assert len(scripted.asked) == 1 + 3
    assert rows("select sum(calls), sum(failures) from spending", "s.duckdb") == [(3, 0)]


def test_tokens_that_a_server_did_not_report_are_shown_as_unknown(
    command: Command, server: Serve, rows: Rows
) -> None:
    def forgetful(body: dict[str, Any], number: int) -> Does:
        return reply_with(code(always("b")), **({"usage": None} if number else {}))

    with server(forgetful) as scripted:
        words = evolve_words(
            f"chat:m@{scripted.url}", "r.duckdb", "--price-in", 1, "--price-out", 2
        )
        done = command(*words)
    asked = len(scripted.asked)
    tokens = f"at least 100 input tokens and 20 output tokens (not all known for {asked - 1} calls)"
    assert f"{asked} calls to models: {tokens}, price unknown" in done.out
    uncounted = len(scripted.asked) - 1
    assert rows("select sum(uncounted), sum(calls) from spending") == [(uncounted, uncounted + 1)]


def test_tokens_of_requests_without_an_answer_are_shown_as_unknown(
    command: Command, server: Serve
) -> None:
    def torn(body: dict[str, Any], number: int) -> Does:
        return Does(drop="middle") if number == 0 else author(body, number)

    with server(torn) as scripted:
        priced = ("--price-in", 1, "--price-out", 2)
        done = command(*evolve_words(f"chat:m@{scripted.url}", "r.duckdb", *priced))
    tokens = "at least 500 input tokens and 100 output tokens (not all known for 1 call)"
    told = f"5 calls to models: {tokens}, at least 0.00070 dollars"
    assert told in done.out


def test_a_failed_call_is_repeated_and_the_steps_after_it_are_made_again(
    command: Command, server: Serve, steps: Steps
) -> None:
    trouble = [False]

    def script(body: dict[str, Any], number: int) -> Does:
        return Does(error("overloaded"), status=503) if trouble[0] else author(body, number)

    with server(script) as scripted:
        oracle = f"chat:m@{scripted.url}"
        command(*evolve_words(oracle, "whole.duckdb"))
        trouble[0] = True
        command(*evolve_words(oracle, "r.duckdb", "--retries", 0), code=1)
        assert {step.outcome for step in steps()} == {"server_error"}
        trouble[0] = False
        command(*evolve_words(oracle))
    assert steps() == steps("whole.duckdb")


def test_a_key_is_in_no_output_and_no_file(
    command: Command, server: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def script(body: dict[str, Any], number: int) -> Does:
        if number == 2:
            return Does(error(f"no access with {KEY}"), status=403)
        return reply_with(code(always("b")) + f"# {KEY}")

    with server(script) as scripted:
        monkeypatch.setenv("OPENAI_BASE_URL", scripted.url)
        done = command(*evolve_words("chat:m", "r.duckdb", "--json"), code=1)
        assert scripted.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "pibr_0_0 stopped: rejected" in done.err
    assert KEY not in done.out + done.err
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes(), file


def test_an_address_with_a_password_is_refused_before_anything_is_recorded(
    command: Command,
) -> None:
    for more in (("--base-url", "http://me:hush@host/v1"), ()):
        oracle = "chat:m" if more else "chat:m@http://me:hush@host/v1"
        done = command(*evolve_words(oracle, "r.duckdb", *more), code=2)
        assert "OPENAI_API_KEY" in done.err and "hush" not in done.err
        assert not Path("r.duckdb").exists()


def test_a_broken_template_is_found_before_a_call_is_paid_for(
    command: Command, server: Serve, tmp_path: Path
) -> None:
    (tmp_path / "rewrite.j2").write_text("Mend it:\n{{ programme }}")
    with server(author) as scripted:
        words = evolve_words(f"chat:m@{scripted.url}", "r.duckdb", "--prompts", tmp_path)
        [line] = command(*words, code=2).err.splitlines()
        assert "rewrite.j2, line 2: 'programme' is undefined" in line
        assert not scripted.asked
    assert not Path("r.duckdb").exists()


def test_a_missing_server_is_reported_in_one_line(command: Command) -> None:
    done = command(*evolve_words("chat:m@http://127.0.0.1:9/v1"), code=1)
    assert "no server at http://127.0.0.1:9/v1 (connection refused)" in done.err
    assert "no step produced a program that runs" in done.out


def test_a_person_answers_through_files(command: Command, tmp_path: Path) -> None:
    services, ended = tmp_path / "services", threading.Event()

    def person() -> None:
        while not ended.wait(0.05):
            for prompt in services.glob("*.prompt.md"):
                answer = prompt.with_name(prompt.name.replace(".prompt.", ".answer."))
                answer.write_text(CRITIQUE if "critique" in prompt.name else code(always("b")))

    someone = threading.Thread(target=person)
    someone.start()
    done = command(*evolve_words("manual:services", "r.duckdb", "-T", 2))
    ended.set()
    someone.join()
    assert "best welfare 14" in done.out
    shown = done.err.count("into a chat, and save the reply as")
    assert shown == len(list(services.glob("*.prompt.md"))) > 4


def test_a_step_whose_welfare_is_of_a_joined_profile_says_so(
    command: Command, server: Serve
) -> None:
    with server(reply_with(code(always("c")))) as scripted:
        words = evolve_words(f"chat:m@{scripted.url}", "r.duckdb", "--order", "simultaneous")
        shown = command(*words).err
    assert "\npibr_0_0, step 1: seat 1, welfare 0\n" in shown
    assert "\npibr_0_0, step 2: seat 1, welfare 10 (joined), the best so far\n" in shown


def test_each_seat_can_have_an_oracle_of_its_own(
    command: Command, server: Serve, rows: Rows
) -> None:
    with server(reply_with(code(always("a")))) as scripted:
        command(*evolve_words(f"search, chat:m@{scripted.url}"))
        assert scripted.asked
        assert all("Your seat: 1" in prompt_of(body) for body in scripted.asked)
        assert rows("select oracles from chains") == [(["search", f"chat:m@{scripted.url}"],)]


def test_several_oracles_have_chains_each_under_one_common_limit(
    command: Command, server: Serve, rows: Rows
) -> None:
    with server(slow_author) as scripted:
        models = [f"chat:{name}@{scripted.url}" for name in "mn"]
        others = ("--oracle", models[1], "--oracle", f"search,{models[0]}")
        command(*evolve_words(models[0], "r.duckdb", *others, "--chains", 2, "--concurrency", 2))
        assert {body["model"] for body in scripted.asked} == {"m", "n"}
        assert scripted.most_under_way == 2
    teams = [[models[0]], [models[1]], ["search", models[0]]]
    assert rows("select name, oracles from chains order by chain") == [
        (f"pibr_0_{number}", teams[number // 2]) for number in range(6)
    ]


def test_chains_on_several_games_run_at_once_under_one_common_limit(
    command: Command, server: Serve, rows: Rows
) -> None:
    with server(slow_author) as scripted:
        words = evolve_words(
            f"chat:m@{scripted.url}", "r.duckdb", "--game", "penalty", "--set", "p=-50"
        )
        done = command(*words, "--json", "--concurrency", 2)
        assert scripted.most_under_way == 2
        assert len(scripted.asked) == done.json["spending"]["calls"] == 10
        assert command(*words, "--json").json == done.json
        assert len(scripted.asked) == 10
    shown = [(game["run"], game["game"], game["welfare"]) for game in done.json["games"]]
    assert [name for _, name, _ in shown] == ["climbing", "penalty"]
    best = "select run, max(welfare) from chains join steps using (chain) group by all order by run"
    assert rows(best) == [(run, welfare) for run, _, welfare in shown]
    assert rows("select json_extract(config, '$.parameters') from runs order by run") == [
        ("{}",),
        ('{"p":-50}',),
    ]
    # The chain that starts first gets the first number.
    numbers = rows("select run, chain from chains order by run")
    for (run, chain), welfare in zip(numbers, (-60, 0), strict=True):
        story = command("lineage", "pibr_0_0_0_0_0", "--run", run, "--db", "r.duckdb").out
        shown = f"pibr_0_0 (chain {chain}), step 0 (round 0, seat 0): welfare {welfare}, ok"
        assert story.startswith(shown)
    assert "penalty: pibr_0_0, step 0" in done.err and "climbing: pibr_0_0, step 0" in done.err


def test_a_chain_has_the_same_steps_beside_another_game_as_alone(
    command: Command, rows: Rows
) -> None:
    command(*evolve_words("search", "alone.duckdb"))
    shown = command(*evolve_words("search", "r.duckdb", "--game", "penalty", "--evaluate", 2)).out
    assert "climbing (run 1): best welfare 22" in shown
    assert "penalty (run 2): best welfare 20" in shown
    steps = "select steps.* from steps join chains using (chain) where run = 1 order by step"
    assert rows(steps) == rows(steps, "alone.duckdb")


def test_a_budget_covers_all_games_together(command: Command, server: Serve) -> None:
    with server(slow_author) as scripted:
        words = evolve_words(f"chat:m@{scripted.url}", "r.duckdb", "--game", "penalty")
        for _ in range(2):
            done = command(*words, "--budget-calls", 3, code=None)
            assert "stopped: budget: the budget is used up: calls are limited to 3" in done.err
            assert len(scripted.asked) == 3
        command(*words)
        assert len(scripted.asked) == 10


def test_a_different_temperature_makes_a_different_chain(
    command: Command, server: Serve, rows: Rows
) -> None:
    with server(author) as scripted:
        for temperature in (0, 1):
            oracle = f"chat:m@{scripted.url}"
            command(*evolve_words(oracle, "r.duckdb", "--temperature", temperature), code=None)
        assert {body["temperature"] for body in scripted.asked} == {0, 1}
    assert len(rows(CHAINS)) == 2


BAD = {
    "no objective called 'fame'": ("--objective", "fame"),
    "no order called 'chaos'": ("--order", "chaos"),
    "no oracle called 'delphi'": ("--oracle", "delphi"),
    "no model is named": ("--oracle", "chat"),
    "which server has m?": ("--oracle", "chat:m"),
    "needs a key": ("--oracle", "chat:openai/m"),
    "takes one oracle, or 2": ("--oracle", "search,search,search"),
    "replay needs a file": ("--oracle", "replay"),
    "there is no record to replay": ("--oracle", "replay:none.duckdb"),
    "there is no such folder of prompts": ("--prompts", "nowhere"),
    "this must be a folder, and it is a file": ("--oracle", f"manual:{__file__}"),
    "--temperature must be": ("--temperature", "9"),
    "--budget-money must be": ("--budget-money", "much"),
    "--base-url is not an address": ("--base-url", "nonsense"),
    "rounds cannot be set": ("--game", "coin_game", "--rounds", "3"),
    "--game climbing is given twice": ("--game", "climbing"),
    "q is not a parameter of climbing or penalty": ("--game", "penalty", "--set", "q=1"),
    "chicken.p is not a parameter of climbing or penalty": (
        "--game",
        "penalty",
        "--set",
        "chicken.p=1",
    ),
}


@pytest.mark.parametrize("shown", BAD)
def test_bad_input_is_refused_in_one_clear_line(command: Command, shown: str) -> None:
    done = command(*evolve_words("search", "r.duckdb", *BAD[shown]), code=2)
    [line] = done.err.splitlines()
    assert shown in line
    assert not Path("r.duckdb").exists()


@pytest.mark.parametrize("content", [b"", b"hello", random.Random(1).randbytes(20_000)])
def test_replaying_a_file_that_is_not_a_record_is_refused_with_the_option_to_change(
    command: Command, content: bytes
) -> None:
    Path("notes").write_bytes(content)
    done = command(*evolve_words("replay:notes"), code=2)
    [line] = done.err.splitlines()
    assert "not a record: name another file with --oracle replay:FILE" in line
    assert not Path("r.duckdb").exists()


def test_replaying_a_record_in_use_is_refused_with_the_option_to_change(
    command: Command,
) -> None:
    with Record.open("busy.duckdb"):
        done = command(*evolve_words("replay:busy.duckdb"), code=2)
    assert "wait until it ends, or name another file with --oracle replay:FILE" in done.err
    assert not Path("r.duckdb").exists()


def test_replaying_a_record_without_calls_is_refused(command: Command) -> None:
    Record.open("none.duckdb").close()
    done = command(*evolve_words("replay:none.duckdb"), code=2)
    assert "none.duckdb has no calls to replay" in done.err
    assert not Path("r.duckdb").exists()


def bots(folder: Path) -> Path:
    folder.mkdir()
    for move in "bc":
        (folder / f"always_{move}.py").write_text(always(move))
    return folder


def test_newcomers_join_the_round_robin(
    command: Command, server: Serve, rows: Rows, tmp_path: Path
) -> None:
    pop = bots(tmp_path / "bots")
    with server(author) as scripted:
        words = (
            *("run", "--pop", pop, "--game", "climbing", "--reps", 2, "--evolve", 2),
            *("--oracle", f"chat:m@{scripted.url}", "-K", 1, "-T", 2, "--db", "r.duckdb"),
            *("--workers", 2, "--json"),
        )
        done = command(*words)
        asked = len(scripted.asked)
        counted = re.findall(r"(\d+) of (\d+) matches", done.err)
        assert counted and all(int(count) <= int(total) for count, total in counted)
        assert counted[-1][0] == counted[-1][1]
        names = {row["bot"] for row in done.json}
        newcomers = {name for name in names if name.startswith("pibr_")}
        assert newcomers and not any(" = " in name for name in names)
        assert names - newcomers == {"always_b", "always_c"}
        count = len(names)
        [(played, sessions)] = rows("select count(*), count(distinct session) from matches")
        assert (played, sessions) == (count * count * 2, 1)
        assert len(rows("select distinct name from chains")) == 2
        again = command(*words)
        assert "0 matches played" in again.err
        assert len(scripted.asked) == asked
    assert rows("select count(*) from matches") == [(played,)]
    assert again.json == done.json


def test_run_takes_the_options_of_evolve(
    command: Command, server: Serve, rows: Rows, tmp_path: Path
) -> None:
    words = ("run", "--pop", bots(tmp_path / "bots"), "--game", "climbing", "--reps", 1)
    with server(author) as scripted:
        asks = ("--oracle", "chat:m", "--base-url", scripted.url, "--temperature", 0.5)
        evolve_options = ("--evolve", 1, "--order", "simultaneous", "--budget-calls", 1, "-T", 1)
        done = command(*words, *asks, *evolve_options, "--workers", 1, "--db", "r.duckdb")
        assert [body["temperature"] for body in scripted.asked] == [0.5]
    assert "pibr_0_0 stopped: budget: the budget is used up: calls are limited to 1" in done.err
    assert "\n1 call to models: 100 input tokens and 20 output tokens, price unknown" in done.err
    [(plan,)] = rows("select plan from chains")
    assert json.loads(plan)["order"] == "simultaneous"
    refused = command(*words, *asks, "--db", "s.duckdb", code=2)
    assert "the options for evolution need --evolve N" in refused.err
    assert not Path("s.duckdb").exists()


def test_a_run_whose_chains_stopped_early_says_so_and_has_all_its_matches(
    command: Command, tmp_path: Path
) -> None:
    words = ("run", "--pop", bots(tmp_path / "bots"), "--game", "climbing", "--reps", 1)
    evolve_options = ("--evolve", 1, "--oracle", "chat:m@http://127.0.0.1:9/v1", "--workers", 1)
    done = command(*words, *evolve_options, "--db", "r.duckdb", code=1)
    assert "pibr_0_0 stopped: unreachable" in done.err
    assert "4 matches played" in done.err
    assert "always_b" in done.out


def test_a_program_that_fails_its_tests_does_not_join(
    command: Command, server: Serve, rows: Rows, tmp_path: Path
) -> None:
    pop = bots(tmp_path / "bots")
    with server(reply_with(code(always("x")))) as scripted:
        words = ("run", "--pop", pop, "--game", "climbing", "--reps", 1, "--evolve", 1)
        oracle = ("--oracle", f"chat:m@{scripted.url}", "-K", 1, "-T", 1, "--db", "r.duckdb")
        command(*words, *oracle, "--workers", 1)
    assert rows("select distinct outcome from steps") == [("illegal",)]
    assert rows("select count(*) from entrants") == [(2,)]


def story(body: dict[str, Any], number: int) -> Does:
    """Reply to each seat with a program that plays c, then with one that raises, then with one that plays b."""
    text = prompt_of(body)
    if asks_for_critique(body):
        return reply_with("\x1b[31mIt raises." if "Unit tests that failed" in text else CRITIQUE)
    if "It raises." in text:
        return reply_with(code(always("b")))
    if "# The review" in text:
        return reply_with(code("def act(view):\n    return 1 / 0\n"))
    return reply_with(code(always("c")))


@pytest.fixture(scope="module")
def story_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path at which the record of the story is kept after the first test has made it."""
    return tmp_path_factory.mktemp("story") / "r.duckdb"


@pytest.fixture
def story_command(command: Command, server: Serve, story_record: Path) -> Command:
    """The command in a folder with the record of the story: a chain in which some steps are gaps."""
    if story_record.exists():
        shutil.copy(story_record, "r.duckdb")
        return command
    with server(story) as scripted:
        plan = ("-K", 1, "-T", 3, "--episodes", 2, "--workers", 1)
        oracle = ("--oracle", f"chat:m@{scripted.url}", "--db", "r.duckdb")
        command("evolve", "--game", "climbing", *oracle, *plan)
    shutil.copy("r.duckdb", story_record)
    return command


def test_a_program_is_exported_by_name_number_or_digest(story_command: Command, rows: Rows) -> None:
    find = "select program, name, digest from programs join steps using (program) where step = 2"
    [(number, name, digest)] = rows(find)
    assert name == f"pibr_{digest[:10]}"
    assert number is not None
    # The second seat wrote the same source, which is the same program.
    for named in (name, "pibr_0_0_0_0_2", "pibr_0_0_0_1_2", number, digest[:8], digest):
        assert story_command("export", named, "--db", "r.duckdb").out == always("b")
    shown = story_command("export", number, "--db", "r.duckdb", "--json").json
    assert (shown["digest"], shown["source"]) == (digest, always("b"))
    for unknown in ("nobody", "______", digest[:5], f"{number}.0"):
        assert (
            "no program called" in story_command("export", unknown, "--db", "r.duckdb", code=2).err
        )


def test_lineage_shows_the_steps_that_led_to_a_program(story_command: Command) -> None:
    text = story_command("lineage", "pibr_0_0_0_0_2", "--db", "r.duckdb").out
    assert "step 0 (round 0, seat 0): welfare 0, ok" in text
    assert "step 1 (round 0, seat 0): no welfare, error" in text
    assert "step 2 (round 0, seat 0): welfare -60, ok" in text
    assert CRITIQUE in text and "ZeroDivisionError" in text
    assert "-    return 1 / 0\n+    return 'b'\n" in text
    assert "\x1b" not in text
    steps = story_command("lineage", "pibr_0_0_0_0_2", "--db", "r.duckdb", "--json").json
    assert [step["welfare"] for step in steps] == [0.0, None, -60.0]
    assert [step["outcome"] for step in steps] == ["ok", "error", "ok"]
    assert steps[0]["diff"].startswith("--- start\n") and "+    return 'c'" in steps[0]["diff"]
    assert "was not evolved" in story_command("lineage", "start", "--db", "r.duckdb", code=2).err


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_drawn_the_same_each_time(story_command: Command, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    heads = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    drawn = []
    for number in range(2):
        file = Path("deep") / f"{number}.{suffix}"
        story_command("plot", "welfare", "--run", 1, "--out", file, "--db", "r.duckdb")
        drawn.append(file.read_bytes())
    assert drawn[0].startswith(heads[suffix]) and len(drawn[0]) > 2000
    assert drawn[0] == drawn[1]


def test_a_figure_shows_the_chains_of_one_plan_and_says_which(story_command: Command) -> None:
    pytest.importorskip("matplotlib")
    command = ("evolve", "--game", "climbing", "--oracle", "search", "-K", 1, "-T", 1)
    story_command(*command, "--episodes", 2, "--workers", 1, "--db", "r.duckdb")
    done = story_command("plot", "welfare", "--out", "a.svg", "--db", "r.duckdb")
    assert re.search(r"chain 2 \(oracle search, .*choose another with --chain: 1 \(", done.err)
    story_command("plot", "welfare", "--chain", 2, "--out", "b.svg", "--db", "r.duckdb")
    assert Path("a.svg").read_bytes() == Path("b.svg").read_bytes()


def test_a_figure_shows_samples_means_and_rounds() -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    from tournament.report import plot

    row = {"chain": 1, "round": 0}
    steps = [
        row | {"step": 0, "seat": 0, "welfare": 18.0, "samples": [20.0, 20.0, 14.0]},
        row | {"step": 1, "seat": 0, "welfare": None, "samples": None},
        row | {"step": 2, "seat": 1, "welfare": 4.0, "samples": [4.0]},
    ]
    assert plot._dots(steps, 0) == ([0, 0], [14.0, 20.0])
    numbers, means = plot._means(steps)
    assert numbers == [0, 1, 2] and str(means) == "[18.0, nan, 4.0]"
    plot._bands(axes, steps)
    assert [(band.get_x(), band.get_width()) for band in axes.patches] == [(-0.5, 2.0)]
    assert axes.get_xlim() == (-0.5, 2.5)


def test_a_chain_that_has_ended_counts_with_its_last_welfare_in_the_mean() -> None:
    from tournament.report import plot

    chains = {1: [20.0], 2: [0.0, None, 4.0], 3: [None, None, 6.0, None]}
    rows = [
        {"chain": chain, "step": step, "welfare": welfare}
        for chain, each in chains.items()
        for step, welfare in enumerate(each)
    ]
    assert plot._means(rows) == ([0, 1, 2, 3], [10.0, 20.0, 10.0, 12.0])


def test_every_seat_has_a_colour_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tournament.report.plot import plot_welfare

    row = {"chain": 1, "round": 0, "welfare": 1.0, "samples": [1.0]}
    rows = [row | {"step": seat, "seat": seat} for seat in range(8)]
    plot_welfare(rows, {}, "public_goods", tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text()
    legend = re.findall(r"PathCollection.*?fill: (#\w+)", drawn, re.DOTALL)
    assert len(set(legend)) == 8


def test_each_reason_why_no_figure_can_be_drawn_is_reported(
    story_command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plot = ("plot", "welfare", "--db", "r.duckdb")
    assert "must end in .png, .svg, .pdf" in story_command(*plot, "--out", "a.gif", code=2).err
    assert (
        "no plot called 'noise'" in story_command("plot", "noise", "--db", "r.duckdb", code=2).err
    )
    story_command(*plot, "--chain", 1, "--out", "a.png")
    missing = story_command(*plot, "--chain", 7, "--out", "a.png", code=2).err
    assert "run 1 has no chain 7; there are: 1" in missing
    for place in ("r.duckdb/a.png", "/proc/a.png"):
        [line] = story_command(*plot, "--out", place, code=2).err.splitlines()
        assert f"{place}: the figure cannot be written" in line
    with Record.open("r.duckdb") as record:
        record.begin_session(record.begin_run("other", {}, 0, [["a"]]), {}, [])
    killed, shown = story_command(*plot, "--run", 2, code=2).err.splitlines()
    assert killed.endswith("its latest session was killed")
    assert "run 2 has no chains" in shown and "runs with chains: 1" in shown
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install" in story_command(*plot, "--run", 1, "--out", "a.png", code=2).err


def test_models_sends_one_question_to_each_model_that_is_set(
    command: Command, server: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(Does(completion("ready"))) as scripted:
        done = command("models", f"chat:m@{scripted.url}", "--json")
        assert [row["ok"] for row in json.loads(done.out)] == [True]
        assert len(scripted.asked) == 1
        monkeypatch.setenv("TOURNAMENT_ORACLE", f"search, chat:n@{scripted.url}")
        command("models")
        assert scripted.asked[-1]["model"] == "n"
    monkeypatch.delenv("TOURNAMENT_ORACLE")
    assert "no model is set" in command("models", code=2).err
    done = command("models", "chat:m@http://127.0.0.1:9/v1", "--json", code=1)
    assert "no server at" in json.loads(done.out)[0]["detail"]
