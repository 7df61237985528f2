"""Textual gradients, put to a server that speaks the real protocol: what is asked, and what comes of bad replies."""

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
    says,
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
def grown(evaluate: Evaluate, server: Serve, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Grows a chain in which seat 0 asks a server that replies as it is told."""
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
                grown = [step async for step in chain.run() if step.seat == 0]
                await chat.aclose()
                return grown, scripted, chain

            return evaluate(CLIMBING, work)  # type: ignore[no-any-return]

    return run


class Silent:
    """An oracle that leaves things as they are."""

    async def respond(self, task: Any) -> Any:
        """The program that is there."""
        from tournament.evolve.response import Response

        return Response(task.program)


def critic(*sources: str) -> Script:
    """Critique where that is asked for, else these programs in turn."""
    replies = iter([*sources, *[sources[-1]] * 100])

    def script(body: dict[str, Any], number: int) -> Does:
        return says(SHOUT) if asks_for_critique(body) else says(code(next(replies)))

    return script


def test_the_first_program_is_written_and_the_others_rewritten_after_a_critique(
    grown: Any,
) -> None:
    steps, server, _ = grown(critic(always("b"), always("c"), always("a")), 3, None)
    asked = [prompt_of(body) for body in server.asked]
    assert [asks_for_critique(body) for body in server.asked] == [False, True, False, True, False]
    assert "# The other programs" in asked[0] and "Your program" not in asked[0]
    assert always("b") in asked[1] and always("b") in asked[2] and SHOUT in asked[2]
    assert always("c") in asked[3] and always("c") in asked[4]
    assert [step.response.critique for step in steps] == ["", SHOUT, SHOUT]
    assert [len(step.response.calls) for step in steps] == [1, 2, 2]
    assert steps[-1].evaluation and steps[-1].evaluation.welfare == 22.0


def test_whole_programs_payoffs_and_rollouts_are_always_shown(grown: Any) -> None:
    long = OWN + "".join(f"# line {number}\n" for number in range(400))
    _, server, _ = grown(critic(always("a")), 1, (long, THEIRS))
    for body in server.asked:
        text = prompt_of(body)
        assert long in text and THEIRS in text
        assert "About it." in text and "-30" in text
        assert "payoffs by seat 6, 6" in text and "round 1: b, c, paid 6, 6" in text
        assert "6 for your seat, 12 for all seats together" in text


def test_a_trace_comes_first(grown: Any) -> None:
    steps, server, _ = grown(critic("def act(view):\n    return 1 / 0\n", always("a")), 2)
    assert [step.outcome for step in steps] == ["error", "ok"]
    critique = prompt_of(server.asked[2])
    assert critique.index("ZeroDivisionError") < critique.index("Rules are broken")
    assert "return 1 / 0" in critique


BAD = {
    CallOutcome.NO_CODE: says("Sure! I would cooperate."),
    CallOutcome.WRONG_FUNCTION: says(code("def policy(view):\n    return 'a'\n")),
    CallOutcome.DIFF: says("```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n```"),
    CallOutcome.TRUNCATED: says("```python\ndef act(view):\n    ret", finish="length"),
    CallOutcome.EMPTY: says("<think>What a game.</think>"),
    CallOutcome.REFUSED: says("I'm sorry, but I can't help with that."),
}


@pytest.mark.parametrize("outcome", BAD)
def test_the_next_attempt_is_told_what_was_wrong_with_the_last(
    grown: Any, outcome: CallOutcome
) -> None:
    steps, server, _ = grown(in_turn(BAD[outcome], says(code(always("a")))), 1, None)
    assert COMPLAINTS[outcome] not in prompt_of(server.asked[0])
    assert COMPLAINTS[outcome] in prompt_of(server.asked[1])
    assert steps[0].outcome == "ok" and len(steps[0].response.calls) == 2


@pytest.mark.parametrize("outcome", BAD)
def test_a_model_that_never_writes_a_program_leaves_a_gap_with_a_name(
    grown: Any, outcome: CallOutcome
) -> None:
    steps, server, _ = grown(BAD[outcome], 1, None)
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
def test_a_call_that_fails_leaves_a_gap_and_the_chain_goes_on(
    grown: Any, outcome: CallOutcome
) -> None:
    steps, _, chain = grown(TROUBLE[outcome], 2, None, time_limit=0.2)
    assert [step.outcome for step in steps] == [str(outcome)] * 2
    assert not chain.stopped
    assert all(step.note for step in steps)


def test_a_server_that_will_serve_nobody_ends_the_chain(grown: Any) -> None:
    steps, server, chain = grown(Does(error("no such model"), status=404), 3, None)
    assert steps == [] and len(server.asked) == 1
    assert chain.stopped.startswith("rejected: ") and "no such model" in chain.stopped


def test_a_budget_that_is_spent_ends_the_chain(grown: Any) -> None:
    steps, server, chain = grown(critic(always("b"), always("c")), 3, None, budget_calls=2)
    assert [step.outcome for step in steps] == ["ok"]
    assert len(server.asked) == 2
    assert chain.stopped.startswith("budget: the budget is used up: calls are limited to 2")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (says("<think>It is fine.</think>Load sooner."), "Load sooner."),
        (says("First, it never", finish="length"), "First, it never"),
    ],
)
def test_a_critique_is_used_as_far_as_it_goes(grown: Any, reply: Does, told: str) -> None:
    def script(body: dict[str, Any], number: int) -> Does:
        return reply if asks_for_critique(body) else says(code(always("a")))

    steps, server, _ = grown(script)
    assert steps[0].response.critique == told
    assert told in prompt_of(server.asked[1])
    assert "It is fine" not in prompt_of(server.asked[1])


@pytest.mark.parametrize(
    "reply",
    [
        says(""),
        Does(completion(None, refusal="No.")),
        says("I'm sorry, but I can't help with that."),
    ],
)
def test_without_a_critique_the_program_is_rewritten_from_the_evidence(
    grown: Any, reply: Does
) -> None:
    def script(body: dict[str, Any], number: int) -> Does:
        return reply if asks_for_critique(body) else says(code(always("a")))

    steps, server, _ = grown(script)
    assert steps[0].outcome == "ok" and steps[0].response.critique == ""
    assert OWN in prompt_of(server.asked[1]) and "## The review" not in prompt_of(server.asked[1])


def test_short_prompts_are_one_call_each(grown: Any) -> None:
    steps, server, _ = grown(critic(always("b"), always("a")), 2, None, short_prompts=True)
    assert [step.outcome for step in steps] == ["ok", "ok"]
    assert not any(map(asks_for_critique, server.asked))
    first, second = map(prompt_of, server.asked)
    assert "Over 2 matches" not in first and len(first) < 2000
    assert always("b") in second and "Over 2 matches" in second


def test_templates_of_ones_own(grown: Any, tmp_path: Path) -> None:
    (tmp_path / "critique.j2").write_text("under review: {{ program }}")
    (tmp_path / "rewrite.j2").write_text("{{ critique }} Mend {{ program }}")
    _, server, _ = grown(critic(always("a")), prompts=tmp_path)
    assert [prompt_of(body) for body in server.asked] == [
        f"under review: {OWN.strip()}",
        f"{SHOUT} Mend {OWN.strip()}",
    ]
