"""The oracle of textual gradients with a server that speaks the real protocol: its prompts, and bad replies."""

from pathlib import Path
from typing import Any

import pytest

from tests.evolve.conftest import (
    Evaluate,
    Serve,
    always,
    asks_for_critique,
    code,
    program,
    prompt_of,
    reply_with,
    setting_of,
)
from tests.oracles.server import Does, Script, Server, completion, error, in_turn
from tournament.evolve.evaluate import Evaluator
from tournament.evolve.pibr import Chain, EvolutionPlan, Step
from tournament.evolve.textual import Textual
from tournament.oracles.chat import Chat
from tournament.oracles.ledger import Ledger
from tournament.oracles.oracle import CallOutcome
from tournament.oracles.prompts import COMPLAINTS, Prompts
from tournament.oracles.settings import Settings
from tournament.oracles.spec import make_limits

CLIMBING = setting_of("climbing")
OWN = "def act(view):\n    # mine\n    return 'b'\n"
THEIRS = "def act(view):\n    # theirs\n    return 'c'\n"
SHOUT = "Your moves in round 1 cost the most."


@pytest.fixture
def evolved(evaluate: Evaluate, server: Serve, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that runs a chain in which seat 0 asks a server with a script."""
    monkeypatch.setattr("tournament.oracles.chat.FIRST_PAUSE", 0.001)

    def run(
        script: Script | Does,
        steps: int = 1,
        start: tuple[str, str] | None = (OWN, THEIRS),
        *,
        short_prompts: bool = False,
        **options: Any,
    ) -> tuple[list[Step], Server, Chain]:
        with server(script) as scripted:
            settings = Settings.load(**{"api_key": "sk-0123456789", "retries": 1} | options)
            prompts = Prompts(settings.prompts)

            async def work(evaluator: Evaluator) -> tuple[list[Step], Server, Chain]:
                chat = Ledger(Chat("m", scripted.url, settings, make_limits(settings)))
                oracle = Textual(chat, prompts, evaluator, "About it.", short_prompts)
                profile = start and (program(start[0]), program(start[1]))
                chain = Chain(
                    "chain", EvolutionPlan(1, steps, 2), (oracle, Silent()), evaluator, profile
                )
                evolved = [step async for step in chain.run() if step.seat == 0]
                await chat.aclose()
                return evolved, scripted, chain

            return evaluate(CLIMBING, work)  # type: ignore[no-any-return]

    return run


class Silent:
    """An oracle that never changes the program of its seat."""

    async def respond(self, task: Any) -> Any:
        """Return the present program."""
        from tournament.evolve.response import Response

        return Response(task.program)


def critic(*sources: str) -> Script:
    """Return a script that replies with a critique if one is asked for, and otherwise with these programs in turn."""
    replies = iter([*sources, *[sources[-1]] * 100])

    def script(body: dict[str, Any], number: int) -> Does:
        return reply_with(SHOUT) if asks_for_critique(body) else reply_with(code(next(replies)))

    return script


def test_the_first_program_is_written_and_later_ones_are_rewritten_after_a_critique(
    evolved: Any,
) -> None:
    steps, server, _ = evolved(critic(always("b"), always("c"), always("a")), 3, None)
    asked = [prompt_of(body) for body in server.asked]
    assert [asks_for_critique(body) for body in server.asked] == [False, True, False, True, False]
    assert "# The other programs" in asked[0] and "Your program" not in asked[0]
    assert always("b") in asked[1] and always("b") in asked[2] and SHOUT in asked[2]
    assert always("c") in asked[3] and always("c") in asked[4]
    assert [step.response.critique for step in steps] == ["", SHOUT, SHOUT]
    assert [len(step.response.calls) for step in steps] == [1, 2, 2]
    assert steps[-1].evaluation and steps[-1].evaluation.welfare == 22.0


def test_whole_programs_payoffs_and_rollouts_are_always_shown(evolved: Any) -> None:
    long = OWN + "".join(f"# line {number}\n" for number in range(400))
    _, server, _ = evolved(critic(always("a")), 1, (long, THEIRS))
    for body in server.asked:
        text = prompt_of(body)
        assert long in text and THEIRS in text
        assert "About it." in text and "-30" in text
        assert "payoffs by seat 6, 6" in text and "round 1: b, c, paid 6, 6" in text
        assert "6 for your seat, 12 for all seats together" in text


def test_a_traceback_comes_before_the_rollouts(evolved: Any) -> None:
    steps, server, _ = evolved(critic("def act(view):\n    return 1 / 0\n", always("a")), 2)
    assert [step.outcome for step in steps] == ["error", "ok"]
    critique = prompt_of(server.asked[2])
    assert critique.index("ZeroDivisionError") < critique.index("Rules are broken")
    assert "return 1 / 0" in critique


BAD = {
    CallOutcome.NO_CODE: reply_with("Sure! I would cooperate."),
    CallOutcome.WRONG_FUNCTION: reply_with(code("def policy(view):\n    return 'a'\n")),
    CallOutcome.DIFF: reply_with("```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n```"),
    CallOutcome.TRUNCATED: reply_with("```python\ndef act(view):\n    ret", finish="length"),
    CallOutcome.EMPTY: reply_with("<think>What a game.</think>"),
    CallOutcome.REFUSED: reply_with("I'm sorry, but I can't help with that."),
}


@pytest.mark.parametrize("outcome", BAD)
def test_the_next_prompt_says_what_was_wrong_with_the_last_answer(
    evolved: Any, outcome: CallOutcome
) -> None:
    steps, server, _ = evolved(in_turn(BAD[outcome], reply_with(code(always("a")))), 1, None)
    assert COMPLAINTS[outcome] not in prompt_of(server.asked[0])
    assert COMPLAINTS[outcome] in prompt_of(server.asked[1])
    assert steps[0].outcome == "ok" and len(steps[0].response.calls) == 2


@pytest.mark.parametrize("outcome", BAD)
def test_a_model_that_never_writes_a_program_leaves_a_gap_with_a_named_outcome(
    evolved: Any, outcome: CallOutcome
) -> None:
    steps, server, _ = evolved(BAD[outcome], 1, None)
    assert [(step.outcome, step.evaluation) for step in steps] == [(str(outcome), None)]
    assert len(server.asked) == 3


TROUBLE = {
    CallOutcome.SERVER_ERROR: Does(error("overloaded"), status=503),
    CallOutcome.RATE_LIMITED: Does(error("slow down"), status=429),
    CallOutcome.DROPPED: Does(drop="middle"),
    CallOutcome.TIMEOUT: Does(delay=0.4),
    CallOutcome.TOO_LONG: Does(error("exceeds the available context size"), status=400),
}


@pytest.mark.parametrize("outcome", TROUBLE)
def test_a_failed_call_leaves_a_gap_and_the_chain_continues(
    evolved: Any, outcome: CallOutcome
) -> None:
    steps, _, chain = evolved(TROUBLE[outcome], 2, None, time_limit=0.2)
    assert [step.outcome for step in steps] == [str(outcome)] * 2
    assert not chain.stopped
    assert all(step.note for step in steps)


def test_a_server_that_rejects_every_call_ends_the_chain(evolved: Any) -> None:
    steps, server, chain = evolved(Does(error("no such model"), status=404), 3, None)
    assert steps == [] and len(server.asked) == 1
    assert chain.stopped.startswith("rejected: ") and "no such model" in chain.stopped


def test_a_used_up_budget_ends_the_chain(evolved: Any) -> None:
    steps, server, chain = evolved(critic(always("b"), always("c")), 3, None, budget_calls=2)
    assert [step.outcome for step in steps] == ["ok"]
    assert len(server.asked) == 2
    assert chain.stopped.startswith("budget: the budget is used up: calls are limited to 2")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (reply_with("<think>It is fine.</think>Load sooner."), "Load sooner."),
        (reply_with("First, it never", finish="length"), "First, it never"),
    ],
)
def test_the_usable_part_of_a_critique_is_used(evolved: Any, reply: Does, expected: str) -> None:
    def script(body: dict[str, Any], number: int) -> Does:
        return reply if asks_for_critique(body) else reply_with(code(always("a")))

    steps, server, _ = evolved(script)
    assert steps[0].response.critique == expected
    assert expected in prompt_of(server.asked[1])
    assert "It is fine" not in prompt_of(server.asked[1])


@pytest.mark.parametrize(
    "reply",
    [
        reply_with(""),
        Does(completion(None, refusal="No.")),
        reply_with("I'm sorry, but I can't help with that."),
    ],
)
def test_without_a_critique_the_program_is_rewritten_from_the_evidence(
    evolved: Any, reply: Does
) -> None:
    def script(body: dict[str, Any], number: int) -> Does:
        return reply if asks_for_critique(body) else reply_with(code(always("a")))

    steps, server, _ = evolved(script)
    assert steps[0].outcome == "ok" and steps[0].response.critique == ""
    assert OWN in prompt_of(server.asked[1]) and "## The review" not in prompt_of(server.asked[1])


def test_with_short_prompts_a_step_is_one_call(evolved: Any) -> None:
    steps, server, _ = evolved(critic(always("b"), always("a")), 2, None, short_prompts=True)
    assert [step.outcome for step in steps] == ["ok", "ok"]
    assert not any(map(asks_for_critique, server.asked))
    first, second = map(prompt_of, server.asked)
    assert "Over 2 matches" not in first and len(first) < 2000
    assert always("b") in second and "Over 2 matches" in second


def test_a_folder_of_your_own_templates_is_used(evolved: Any, tmp_path: Path) -> None:
    (tmp_path / "critique.j2").write_text("under review: {{ program }}")
    (tmp_path / "rewrite.j2").write_text("{{ critique }} Mend {{ program }}")
    _, server, _ = evolved(critic(always("a")), prompts=tmp_path)
    assert [prompt_of(body) for body in server.asked] == [
        f"under review: {OWN.strip()}",
        f"{SHOUT} Mend {OWN.strip()}",
    ]
