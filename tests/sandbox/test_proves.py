"""`proves` in the engine: what bots that reason about each other's proofs really play."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.published import NAMES, published_matrix
from tests.theory.formulas import agent_formulas, python_bot
from tournament.engine.batch import Batch, Played, game_facts, make_batch
from tournament.engine.play import play
from tournament.engine.prove import answer
from tournament.game import Repetition, Setting, index
from tournament.library import load_game, packaged_sources
from tournament.match import Fixture
from tournament.program import Program
from tournament.sandbox.instance import Image
from tournament.sandbox.limits import Limits
from tournament.theory.modal import Agent, Formula
from tournament.theory.modal import play as play_formulas

ONE_SHOT = Setting(load_game("prisoners_dilemma"))
LIBRARY = packaged_sources()
COOPERATE = "def act(view):\n    return 'C'\n"


def played(
    sandbox: Image,
    lineups: Sequence[tuple[str, str]],
    setting: Setting = ONE_SHOT,
    limits: Limits = Limits(),
) -> tuple[Batch, Played]:
    """Matches of these pairs of sources, in one batch."""
    programs = {p.digest: p for pair in lineups for p in map(_program, pair)}
    fixtures = [
        Fixture((_program(x).digest, _program(y).digest), r) for r, (x, y) in enumerate(lineups)
    ]
    batch = make_batch(setting, 1, programs, fixtures, limits, LIBRARY)
    return batch, play(sandbox, batch)


def _program(source: str) -> Program:
    return Program("bot", source)


def outcomes(
    sandbox: Image, lineups: Sequence[tuple[str, str]], setting: Setting = ONE_SHOT
) -> list[str]:
    """What both seats of each pair play, "?" for one that faults; of a repeated game, the last round."""
    _batch, result = played(sandbox, lineups, setting)
    moves = setting.game.moves
    told = []
    for slot, codes in enumerate(result.moves):
        told.append(str(moves[slot % 2][index(codes[-1])]) if codes else "?")
    return [told[n] + told[n + 1] for n in range(0, len(told), 2)]


def test_the_published_matrix_is_reproduced_cell_by_cell(sandbox: Image) -> None:
    published = published_matrix()
    assert len(published) == 22 * 22
    found = outcomes(sandbox, [(LIBRARY[x], LIBRARY[y]) for x, y in published])
    assert dict(zip(published, found, strict=True)) == published


def test_500_random_pairs_of_formulas_play_as_the_solver_says(sandbox: Image) -> None:
    pairs: list[tuple[Formula, Formula]] = []

    @seed(1)
    @settings(
        max_examples=500,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.tuples(agent_formulas(), agent_formulas()))
    def collect(pair: tuple[Formula, Formula]) -> None:
        pairs.append(pair)

    collect()
    assert len(pairs) >= 500
    sources = [(python_bot(x), python_bot(y)) for x, y in pairs]
    expected = [play_formulas(Agent("x", x), Agent("y", y)) for x, y in pairs]
    found = []
    for start in range(0, len(sources), 60):
        found += outcomes(sandbox, sources[start : start + 60])
    assert found == expected


def test_fair_bot_is_never_exploited_by_a_modal_agent(sandbox: Image) -> None:
    """Barasz et al. 2014, theorem 3.1 and after it: it never cooperates with one that defects."""
    opponents: list[Formula] = []

    @seed(2)
    @settings(max_examples=100, database=None, phases=[Phase.generate])
    @given(agent_formulas(["DefectBot"]))
    def collect(formula: Formula) -> None:
        opponents.append(formula)

    collect()
    fair = LIBRARY["fair_bot"]
    found = outcomes(sandbox, [(fair, python_bot(formula)) for formula in opponents])
    assert "CD" not in found and "CC" in found


def test_moves_of_any_game_can_be_proved(sandbox: Image) -> None:
    fair = "def act(view):\n    return 'stag' if view.proves('them(me) == \"stag\"') else 'hare'\n"
    hare = "def act(view):\n    return 'hare'\n"
    setting = Setting(load_game("stag_hunt"))
    found = outcomes(sandbox, [(fair, fair), (fair, hare)], setting)
    assert found == ["stagstag", "harehare"]


def test_in_a_repeated_game_the_question_is_about_the_present_history(sandbox: Image) -> None:
    switching = "def act(view):\n    return 'C' if len(view.mine) < 2 else 'D'\n"
    setting = Setting(load_game("prisoners_dilemma"), Repetition(rounds=4))
    _, result = played(sandbox, [(LIBRARY["fair_bot"], switching)], setting)
    assert result.moves == ["0011", "0011"]


@pytest.mark.parametrize(
    "body",
    [
        "return view.rng.choice('CD')",
        "return 'C' if view.shared.random() < 2 else 'D'",
        "return 1 / 0",
        "return 'X'",
        "while True: pass",
    ],
)
def test_who_draws_faults_or_stalls_has_no_provable_move(sandbox: Image, body: str) -> None:
    source = f"def act(view):\n    {body}\n"
    asker = """
def act(view):
    known = view.proves("them(me) == C") or view.proves("not them(me) == C")
    return "C" if known else "D"
"""
    _, result = played(sandbox, [(asker, source)], limits=Limits(fuel=100_000_000))
    assert result.moves[0] == "1" or 1 in result.faults
    if 1 in result.faults:
        _, mirrored = played(sandbox, [(f"{asker}\n# alone", COOPERATE)])
        assert mirrored.moves == ["0", "0"]


def test_proofs_and_simulations_go_together(sandbox: Image) -> None:
    copies = "def act(view):\n    return view.simulate()\n"
    found = outcomes(
        sandbox, [(copies, LIBRARY["fair_bot"]), (LIBRARY["fair_bot"], LIBRARY["justice"])]
    )
    assert found == ["CC", "CC"]


@pytest.mark.parametrize("name", ["Fair_Bot", "fairbot", "FAIR_BOT"])
def test_names_in_statements_and_in_the_library_may_differ_in_case_and_underscores(
    sandbox: Image, name: str
) -> None:
    library = {"FairBot": LIBRARY["fair_bot"]}
    question = [f"{name}({name}) == C", game_facts(ONE_SHOT), library, [10**9, 1 << 26]]
    assert json.loads(answer(sandbox, question))["provable"]


@pytest.mark.parametrize(
    "text", ["them(me) = C", "nobody(me) == C", "x" * 1_000_000, "", f"proves(true, {'9' * 5_000})"]
)
def test_a_statement_that_cannot_be_read_is_a_value_error(sandbox: Image, text: str) -> None:
    asker = f"""
def act(view):
    try:
        view.proves({text!r})
    except ValueError:
        return "C"
    return "D"
"""
    assert outcomes(sandbox, [(asker, COOPERATE)]) == ["CC"]


def test_ten_thousand_statements_are_bounded_and_leave_others_alone(sandbox: Image) -> None:
    asker = """
def act(view):
    for number in range(10_000):
        view.proves(f"them(me) == C or them(me) == {number}")
    return "C"
"""
    lineups = [(asker, COOPERATE), (COOPERATE, LIBRARY["tit_for_tat"])]
    _, first = played(sandbox, lineups, limits=Limits(fuel=200_000_000))
    _, again = played(sandbox, lineups, limits=Limits(fuel=200_000_000))
    assert first == again
    assert {slot: fault.kind for slot, fault in first.faults.items()} == {0: "fuel"}
    assert first.moves[2:] == ["0", "0"]


def test_a_bound_that_is_hit_is_false_and_the_reason_is_noted(sandbox: Image) -> None:
    tangled = """
def act(view):
    statements = (f"them(me) == C or me(them) == {n}" for n in range(205))
    return "C" if all(map(view.proves, statements)) else "D"
"""
    _batch, result = played(
        sandbox, [(tangled, f"{tangled}\n# another")], limits=Limits(fuel=2_000_000_000)
    )
    assert result.moves == ["1", "1"]
    assert "not proved" in result.notes[0][1]


HISTORY = Setting(load_game("prisoners_dilemma"), Repetition(rounds=4))
KEEPING = {
    "in an object": """
class Bot:
    calls = 0

    def act(self, view):
        self.calls += 1
        return "C" if self.calls == 1 else "D"
""",
    "in a list": """
calls = []
def act(view):
    calls.append(0)
    return "C" if len(calls) == 1 else "D"
""",
    "in a default": """
def act(view, calls=[]):
    calls += [0]
    return "C" if len(calls) == 1 else "D"
""",
    "in a module": """
import math
def act(view):
    math.calls = getattr(math, "calls", 0) + 1
    return "C" if math.calls == 1 else "D"
""",
    "in a generator": """
def moves():
    yield "C"
    while True:
        yield "D"

left = moves()
def act(view):
    return next(left)
""",
}


@pytest.mark.parametrize("source", KEEPING.values(), ids=KEEPING)
def test_who_keeps_something_between_rounds_does_not_exploit_fair_bot(
    sandbox: Image, source: str
) -> None:
    """Its provable move is the one that it makes after all rounds before."""
    _, result = played(sandbox, [(LIBRARY["fair_bot"], source)], HISTORY)
    assert result.moves == ["0111", "0111"]


def test_a_move_that_hangs_on_what_was_provable_before_is_not_provable(sandbox: Image) -> None:
    """It keeps the first round's proof, which at a later round's worlds nobody knows."""
    keeps = """
class Bot:
    first = None

    def act(self, view):
        if self.first is None:
            self.first = view.proves("them(me) == C")
        return "C" if self.first else "D"
"""
    _, result = played(sandbox, [(LIBRARY["fair_bot"], keeps)], HISTORY)
    assert result.moves == ["0111", "0000"]


def test_what_is_asked_at_another_history_is_not_answered_for_this_one(sandbox: Image) -> None:
    """A program that tries FairBot out elsewhere must not be told what is provable here."""
    tries = """
def act(view):
    before = view.simulate(view.them, view.me, history=[("D", "D")] * 9)
    return "C" if before == "C" else "D"
"""
    _, result = played(sandbox, [(LIBRARY["fair_bot"], tries)], HISTORY)
    assert "01" not in zip(result.moves[0], result.moves[1], strict=True)
    assert not result.faults


def test_a_proof_costs_the_same_whatever_was_found_out_before(sandbox: Image) -> None:
    lineups = [(LIBRARY["prudent_bot"], LIBRARY["fair_bot"])]
    others = [(LIBRARY[x], LIBRARY[y]) for x in ("just_bot", "fair_bot") for y in NAMES.values()]
    batch, result = played(sandbox, [*others, *lineups])
    strict = play(sandbox, replace(batch, alone=True))
    again = play(sandbox, replace(batch.only([len(others)]), alone=True))
    assert again.fuel == strict.fuel[-2:]
    assert again.moves == result.moves[-2:]


def test_a_bound_is_noted_in_the_round_that_is_really_played(sandbox: Image) -> None:
    """Even if it is hit by a program that is simulated somewhere else."""
    asker = """
TANGLED = '''
def act(view):
    statements = (f"them(me) == C or me(them) == {n}" for n in range(205))
    return "C" if all(map(view.proves, statements)) else "D"
'''
def act(view):
    return view.simulate(TANGLED, TANGLED + "#", history=[("C", "C")] * 9)
"""
    _, result = played(sandbox, [(asker, COOPERATE)])
    assert result.moves == ["1", "0"]
    assert [number for number, _ in result.notes.values()] == [0]
