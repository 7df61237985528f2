"""The solver of modal agents agrees with outcomes of other programs, and with the theorems."""

import csv
import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.theory.formulas import agent_formulas, formulas, python_bot, statement
from tournament.errors import NotFound, UsageError
from tournament.theory.modal import (
    AGENTS,
    LONGEST,
    MODAL,
    TRUTH,
    Agent,
    Formula,
    FormulaError,
    competition,
    parse,
    play,
    rows,
    trace,
)

DATA = Path(__file__).parents[1] / "data"
FRAMES = json.loads((DATA / "modal_frames.json").read_text())
COOPERATE, DEFECT, FAIR = HELPERS = (
    AGENTS["CooperateBot"],
    AGENTS["DefectBot"],
    AGENTS["FairBot"],
)
FORMULAS = agent_formulas([helper.name for helper in HELPERS])
XS = st.builds(Agent, st.just("X"), FORMULAS, st.just(HELPERS))
YS = st.builds(Agent, st.just("Y"), FORMULAS, st.just(HELPERS))


def agent(name: str, text: str) -> Agent:
    return Agent(name, parse(text), HELPERS)


def table(file: str, delimiter: str) -> list[dict[str, str]]:
    with (DATA / file).open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter=delimiter))


# Outcomes of other programs


def test_named_agents_play_as_in_the_matrix() -> None:
    theirs = {row.pop("row_vs_col"): row for row in table("modal_matrix.csv", ",")}
    ours = {x: {y: play(AGENTS[x], AGENTS[y]) for y in AGENTS} for x in AGENTS}
    assert ours == theirs
    assert sum(map(len, theirs.values())) == 484


def test_random_agents_play_as_another_solver_found() -> None:
    pairs = table("modal_random_vectors.tsv", "\t")
    assert len(pairs) == 400
    for pair in pairs:
        x, y = agent("X", pair["formula_X"]), agent("Y", pair["formula_Y"])
        assert play(x, y) == pair["outcome(X,Y)"], pair


@pytest.mark.parametrize("names", FRAMES)
def test_moves_at_every_world_agree_with_another_solver(names: str) -> None:
    x, y = (AGENTS[name] for name in names.split(" vs "))
    assert {"play": play(x, y), **trace(x, y)} == FRAMES[names]


def test_three_equal_rows_do_not_end_a_trace_with_deeper_boxes() -> None:
    moves = trace(AGENTS["PrudentBot"], AGENTS["WaitFairBot3"])
    assert moves["WaitFairBot3(PrudentBot)"] == "DDDCDDDDD"


@pytest.mark.parametrize(
    ("name", "most"), [("FairBot", 0), ("FairBot1", 1), ("FairBot2", 2), ("ToughButFair2", 2)]
)
def test_a_level_proves_what_follows_from_its_assumptions_of_consistency(
    name: str, most: int
) -> None:
    for assumed in range(5):
        cautious = agent("X", f"~{'[]' * assumed}F")
        assert play(AGENTS[name], cautious) == ("CC" if assumed <= most else "DC")


# Worlds


@given(XS, YS)
def test_rows_after_the_end_of_a_trace_equal_its_last_row(x: Agent, y: Agent) -> None:
    for atom, moves in trace(x, y).items():
        assert trace(x, y, len(moves) + 20)[atom] == moves + 20 * moves[-1]


@given(XS, YS, st.integers(0, 9))
def test_a_trace_has_as_many_worlds_as_asked_for(x: Agent, y: Agent, worlds: int) -> None:
    assert {len(moves) for moves in trace(x, y, worlds).values()} == {worlds}


LAWS = {
    "distribution": "[](a -> b) -> []a -> []b",
    "necessitation": "[](a || ~a)",
    "transitivity": "[]a -> [][]a",
    "Löb's theorem": "[]([]a -> a) -> []a",
    "Gödel's second theorem": "[]~[]F -> []F",
    "diamonds": "(<>a <-> ~[]~a) && (<2>a <-> ~[2]~a)",
    "levels": "([1]a <-> [](~[]F -> a)) && ([2]a <-> [](~[][]F -> a))",
}


@pytest.mark.parametrize("law", LAWS)
@settings(max_examples=50)
@given(x=XS, y=YS)
def test_the_laws_of_provability_logic_hold_at_every_world(law: str, x: Agent, y: Agent) -> None:
    equations = competition(x, y)
    equations["law"] = parse(LAWS[law]).renamed({"a": "X(Y)", "b": "Y(X)"})
    assert all(row["law"] for row in itertools.islice(rows(equations), 12))


def true_at(formula: Formula, world: int, moves: Sequence[dict[str, bool]]) -> bool:
    """Return whether the formula is true at this world by definition, if these are the moves."""
    if formula.sign in MODAL:
        below = [w for w in range(world) if not inconsistent(formula.level, w)]
        return MODAL[formula.sign]([true_at(formula.parts[0], w, moves) for w in below])
    if formula.sign in TRUTH:
        return TRUTH[formula.sign](*(true_at(part, world, moves) for part in formula.parts))
    return moves[world][formula.sign]


def inconsistent(level: int, world: int) -> bool:
    """Return whether `[]..[]F`, with this many boxes, is true at this world."""
    return level > 0 and all(inconsistent(level - 1, w) for w in range(world))


# Theorems of Barasz et al.


@given(XS, YS, st.randoms())
def test_the_outcome_is_unique(x: Agent, y: Agent, rng: random.Random) -> None:
    """Theorem 4.7: from any guessed moves, the equations lead to the same moves."""
    equations = competition(x, y)
    moves = [{atom: rng.random() < 0.5 for atom in equations} for _ in range(5)]
    for _ in moves:
        moves = [
            {atom: true_at(formula, world, moves) for atom, formula in equations.items()}
            for world in range(len(moves))
        ]
    assert moves == list(itertools.islice(rows(equations), len(moves)))


@given(XS, YS)
def test_an_outcome_does_not_depend_on_the_seats(x: Agent, y: Agent) -> None:
    assert play(x, y) == play(y, x)[::-1]
    assert trace(x, y) == trace(y, x)


@given(XS)
def test_an_agent_plays_its_copy_as_it_plays_itself(x: Agent) -> None:
    copy = Agent("Y", x.formula, x.helpers)
    assert trace(x, x, 12)["X(X)"] == trace(x, copy, 12)["X(Y)"] == trace(x, copy, 12)["Y(X)"]


EQUIVALENT = {
    "~": "a -> F",
    "&&": "~(a -> ~b)",
    "||": "~a -> b",
    "->": "~a || b",
    "<->": "(a -> b) && (b -> a)",
    "[]": "[](a && []a)",
    "<>": "<>(a || <>a)",
    "[1]": "[](~[]F -> a)",
    "[2]": "[](~[][]F -> a)",
    "<1>": "<>(~[]F && a)",
    "<2>": "~[2]~a",
}


def disguised(formula: Formula, rng: random.Random) -> Formula:
    """Return another formula that is provably equivalent."""
    parts = tuple(disguised(part, rng) for part in formula.parts)
    if not parts or rng.random() < 0.5:
        return Formula(formula.sign, parts, formula.level)
    sign = str(formula.level or "").join(formula.sign) if formula.sign in MODAL else formula.sign
    return filled(parse(EQUIVALENT[sign]), dict(zip("ab", parts, strict=False)))


def filled(formula: Formula, parts: dict[str, Formula]) -> Formula:
    """Return the formula with its atoms replaced by other formulas."""
    if formula.sign in parts:
        return parts[formula.sign]
    inner = tuple(filled(part, parts) for part in formula.parts)
    return Formula(formula.sign, inner, formula.level)


@given(XS, YS, st.randoms())
def test_agents_respond_to_the_meaning_of_an_opponent_and_not_to_its_form(
    x: Agent, y: Agent, rng: random.Random
) -> None:
    """Theorem 4.8: agents play the same moves against provably equivalent opponents."""
    equivalent = Agent("Y", disguised(y.formula, rng), HELPERS)
    for judge in (x, *AGENTS.values()):
        assert (
            trace(judge, y, 9)[f"{judge.name}(Y)"]
            == trace(judge, equivalent, 9)[f"{judge.name}(Y)"]
        )


@settings(max_examples=200)
@given(agent_formulas())
def test_agents_of_rank_0_that_cooperate_with_fair_bot_cooperate_with_cooperate_bot(
    formula: Formula,
) -> None:
    """Theorem 4.10: so no agent of rank 0 does what PrudentBot does."""
    x = Agent("X", formula)
    assume("D" not in trace(x, FAIR)["X(FairBot)"])
    assert "D" not in trace(x, COOPERATE)["X(CooperateBot)"]


def test_fair_bots_cooperate_and_prudent_bots_also_punish() -> None:
    """Theorems 3.1 and 3.2."""
    prudent = AGENTS["PrudentBot"]
    assert play(FAIR, FAIR) == play(prudent, prudent) == play(prudent, FAIR) == "CC"
    assert play(prudent, COOPERATE) == "DC"
    assert play(prudent, DEFECT) == "DD"


NEVER_EXPLOITED = [
    "FairBot",
    "FairBot1",
    "FairBot2",
    "PrudentBot",
    "CIMCIC",
    "JustBot",
    "WaitFairBot1",
    "HobsonBot",
    "MagicBot",
    "ToughButFair2",
]


@given(XS)
def test_agents_that_ask_for_proof_of_cooperation_are_never_exploited(x: Agent) -> None:
    assert [name for name in NEVER_EXPLOITED if play(AGENTS[name], x) == "CD"] == []


def test_troll_bot_can_be_exploited() -> None:
    """Section 5."""
    assert play(AGENTS["TrollBot"], agent("X", "[]~b")) == "CD"


def waiting(levels: int) -> Agent:
    return Agent(f"WaitFairBot{levels}", parse(f"~{'[]' * levels}F && [{levels}]b"))


@given(XS)
def test_no_agent_that_defects_on_defect_bot_cooperates_with_every_wait_fair_bot(x: Agent) -> None:
    """Section 5: for each such agent there is a WaitFairBot that waits too long."""
    assume(play(x, DEFECT)[0] == "D")
    assert play(x, waiting(1 + x.formula.depth)) != "CC"


def test_the_agents_that_cooperate_with_wait_fair_bots() -> None:
    reached = {
        name: [levels for levels in range(1, 8) if play(AGENTS[name], waiting(levels)) == "CC"]
        for name in AGENTS.keys() - {"CooperateBot"}
    }
    assert {name: levels for name, levels in reached.items() if levels} == {
        "FairBot1": [1],
        "FairBot2": [1, 2],
        "MagicBot": [1],
        "HobsonBot": [1],
        "WaitFairBot1": [1],
        "WaitFairBot2": [2],
        "WaitFairBot3": [3],
    }


# Reading


@given(formulas(["FairBot", "x_1"]))
def test_a_written_formula_is_read_as_the_same_formula(formula: Formula) -> None:
    assert parse(str(formula)) == formula


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("~a && b", "(~a) && b"),
        ("[]a -> b", "([]a) -> b"),
        ("~[2]<>a || b", "(~([2](<>a))) || b"),
        ("a && b || T && F", "(a && b) || (T && F)"),
        ("a || b -> T || F", "(a || b) -> (T || F)"),
        ("a -> b <-> T -> F", "(a -> b) <-> (T -> F)"),
        ("a -> b -> T", "a -> (b -> T)"),
        ("a && b && T", "a && (b && T)"),
        ("a <-> b <-> T", "a <-> (b <-> T)"),
        (" []a", "[0]a"),
        ("\n[]  them(FairBot)\t->a", "([](them(FairBot))) -> a"),
    ],
)
def test_connectives_have_precedence_and_equal_ones_group_to_the_right(
    short: str, full: str
) -> None:
    assert parse(short) == parse(full)
    assert len(str(parse(full))) <= len(full)


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("", 0, "a formula, found the end"),
        ("  ", 2, "a formula, found the end"),
        ("a b", 2, "a connective or the end, found 'b'"),
        ("a)", 1, "a connective or the end, found ')'"),
        ("(a && b", 7, "a connective or ')', found the end"),
        ("(a ~b)", 3, "a connective or ')', found '~'"),
        ("a && ", 5, "a formula, found the end"),
        ("a || || b", 5, "a formula, found '||'"),
        ("<-> b", 0, "a formula, found '<->'"),
        ("[]", 2, "a formula, found the end"),
        ("~[100]b", 1, "a formula, found '[100]'"),
        ("[k]b", 0, "a formula, found '['"),
        ("[]c", 2, "a formula, found 'c'"),
        ("[]ab", 2, "a formula, found 'ab'"),
        ("[]them()", 2, "a formula, found 'them'"),
        ("a & b", 2, "a connective or the end, found '&'"),
        ("a && é", 5, "a formula, found 'é'"),
    ],
)
def test_a_text_that_is_not_a_formula_is_refused_with_the_position(
    text: str, position: int, expected: str
) -> None:
    with pytest.raises(FormulaError) as refused:
        parse(text)
    assert refused.value.position == position
    assert str(refused.value).endswith(f"at character {position + 1}: expected {expected}")


@given(st.from_regex(r"([TFab()~]|\[\d*\]|<\d>?|&&?|\|\||<?->| |them\(X\)?|\n|é)*", fullmatch=True))
def test_any_text_is_read_as_a_formula_or_refused(text: str) -> None:
    try:
        assert parse(str(parse(text))) == parse(text)
    except FormulaError as refused:
        assert 0 <= refused.position <= len(text)
        assert "\n" not in str(refused)


@pytest.mark.parametrize("nested", ["~", "[2]", "T && "])
def test_the_longest_formulas_are_read_written_and_played(nested: str) -> None:
    tokens = len(nested.split())
    text = nested * ((LONGEST - 2) // tokens) + "T"
    x = agent("X", text)
    assert parse(str(x.formula)) == x.formula
    assert play(x, x) in {"CC", "DD"}
    with pytest.raises(FormulaError, match=f"more than {LONGEST} signs"):
        parse(nested * LONGEST + "T")


# Agents


@pytest.mark.parametrize("text", ["a", "~b", "[]a && b", "T -> them(FairBot)", "[]b <-> a"])
def test_an_atom_under_no_box_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"X: an atom of .* stands under no box"):
        agent("X", text)


def test_an_atom_about_an_unknown_helper_is_refused() -> None:
    with pytest.raises(NotFound, match=r"no atom called 'them\(FairBoy\)'.*them\(FairBot\)"):
        agent("X", "[]them(FairBoy)")


def test_two_different_agents_of_one_name_cannot_meet() -> None:
    with pytest.raises(UsageError, match="one name"):
        play(agent("X", "[]b"), agent("X", "T"))


# Formulas as bots


@given(FORMULAS, st.randoms())
def test_a_bot_made_from_a_formula_plays_the_value_of_the_formula_for_any_answers(
    formula: Formula, rng: random.Random
) -> None:
    answers: dict[tuple[str, int], bool] = {}

    def proves(text: str, level: int = 0) -> bool:
        return answers.setdefault((text, level), rng.random() < 0.5)

    def true(formula: Formula) -> bool:
        if formula.sign == "[]":
            return proves(statement(formula.parts[0]), formula.level)
        if formula.sign == "<>":
            return not proves(statement(Formula("~", formula.parts)), formula.level)
        return TRUTH[formula.sign](*map(true, formula.parts))

    bot: dict[str, Any] = {}
    exec(python_bot(formula), bot)
    assert bot["act"](SimpleNamespace(proves=proves)) == ("C" if true(formula) else "D")


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("CooperateBot", "True"),
        ("FairBot", 'view.proves("them(me) == C")'),
        (
            "PrudentBot",
            '(view.proves("them(me) == C")'
            ' and view.proves("(not them(always_defect) == C)", level=1))',
        ),
        ("JustBot", 'view.proves("them(fair_bot) == C")'),
        ("CIMCIC", 'view.proves("(me(them) == C -> them(me) == C)")'),
        ("MagicBot", 'view.proves("(proves(me(them) == C) -> them(me) == C)", level=1)'),
        (
            "WaitFairBot2",
            '((not view.proves("proves(false)")) and view.proves("them(me) == C", level=2))',
        ),
    ],
)
def test_agents_as_bots_ask_for_proofs_in_words(name: str, condition: str) -> None:
    source = python_bot(AGENTS[name].formula)
    assert source == f'def act(view):\n    return "C" if {condition} else "D"\n'


def test_a_diamond_means_that_the_negation_cannot_be_proved() -> None:
    assert statement(parse("<1>b || T")) == "((not proves((not them(me) == C), level=1)) or true)"
    assert "(not view.proves(" in python_bot(parse("<>b"))
