"""What one match has had simulated is known to the others of its batch: nobody can tell, and it is bounded."""

from dataclasses import replace
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.batches import LITTLE, batch_of, matches_of
from tournament.engine.batch import Batch, Played
from tournament.engine.play import Lockstep, play
from tournament.game import Repetition, Setting
from tournament.library import load_game, packaged_sources
from tournament.sandbox.call import OWN, Frame, Top, Trace
from tournament.sandbox.instance import Image as Sandbox
from tournament.sandbox.limits import Limits
from tournament.sandbox.memory import MOST_KEPT, Memory, Simulated
from tournament.sandbox.runner import Runner

ONE_SHOT = Setting(load_game("prisoners_dilemma"))
LIBRARY = packaged_sources()
TWO_ROUNDS = Setting(load_game("prisoners_dilemma"), Repetition(rounds=2))
BEFORE = """
CONSTANT = "def act(view):\\n    return 'C'\\n"
DRAWING = "def act(view):\\n    return view.rng.choice('CD')\\n"
TOSSING = "def act(view):\\n    return 'C' if view.shared.random() < 0.5 else 'D'\\n"
COPYING = "def act(view):\\n    return view.simulate()\\n"
ASKING_TWICE = "def act(view):\\n    return view.simulate() if view.simulate(view.me) == 'C' else 'D'\\n"
KEEPING = "import math\\nseen = []\\ndef act(view):\\n    seen.append(0)\\n    return 'CD'[len(seen) % 2]\\n"
PRYING = "def act(view):\\n    return 'CD'[int(getattr(view, '_private'), 16) % 2]\\n"
STALLING = "def act(view):\\n    while True: pass\\n"
RAISING = "def act(view):\\n    return 1 / 0\\n"
"""
PROGRAMS = [
    *(line.partition(" ")[0] for line in BEFORE.split("\n") if line),
    "view.me",
    "view.them",
]
HISTORIES = ["[]", '[("C", "D")]', "view.history"]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "history": st.sampled_from(HISTORIES),
        "shared": st.sampled_from(["view.shared", "'a'", "'b'"]),
        "fuel": st.sampled_from(["3_000_000", "9_000_000"]),
        "sample": st.sampled_from(["1"]),
        "seat": st.sampled_from(["0", "view.seat"]),
    },
)
SIMULATIONS = st.builds(
    lambda program, against, options: (
        f"view.simulate({program}, {against}, {', '.join(f'{k}={v}' for k, v in options.items())}) == 'C'"
    ),
    st.sampled_from(PROGRAMS),
    st.sampled_from(PROGRAMS),
    OPTIONS,
)
QUESTIONS = st.one_of(
    SIMULATIONS,
    st.sampled_from(
        [
            "view.simulate() == 'C'",
            "view.simulate(rounds=2) == [('C', 'C'), ('D', 'C')]",
            "view.proves('them(me) == C')",
            "view.proves('proves(me(them) == D) -> them(me) == C')",
            "view.rng.random() < 0.5",
            "view.shared.random() < 0.5",
            "view.seat == 0",
            "view.theirs == ['C']",
            "int(getattr(view, '_tape')[0], 16) % 2",
        ]
    ),
)


def bot(questions: list[str], last: str) -> str:
    """A program that cooperates or defects by what it hears first."""
    lines = [
        f"    if {question}:\n        return {'CD'[n % 2]!r}"
        for n, question in enumerate(questions)
    ]
    return "\n".join([BEFORE, "def act(view):", *lines, f"    return {last}\n"])


BOTS = st.builds(
    bot,
    st.lists(QUESTIONS, min_size=1, max_size=3),
    st.sampled_from(["'C'", "'D'", "view.simulate()"]),
)


def without_memory(sandbox: Sandbox, batch: Batch) -> Played:
    """The same batch in fast play, with every simulation made."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Memory, "find", lambda *asked: None)
        return play(sandbox, batch)


def check(sandbox: Sandbox, batch: Batch) -> None:
    """The batch plays the same, to the last unit of fuel, as if nothing were known; and the same as in strict play."""
    known = play(sandbox, batch)
    assert known == without_memory(sandbox, batch)
    alone = play(sandbox, replace(batch, alone=True))
    assert matches_of(batch, known) == matches_of(batch, alone)
    assert known.notes == alone.notes


@settings(max_examples=8)
@given(st.lists(BOTS, min_size=2, max_size=3, unique=True), st.integers(0, 99), st.booleans())
def test_what_is_known_to_other_matches_changes_no_move_no_fault_no_note_and_no_fuel(
    sandbox: Sandbox, bots: list[str], seed: int, scarce: bool
) -> None:
    lineups = [*combinations_with_replacement(bots, 2)] * 2
    limits = Limits(fuel=25_000_000) if scarce else LITTLE
    check(sandbox, batch_of(*lineups, setting=TWO_ROUNDS, limits=limits, seed=seed))


WAITS = "def act(view):\n    return 'C' if view.simulate() is view.TIMEOUT else 'D'\n"
SPINS = "def act(view):\n    for _ in range(1_000_000): pass\n    return 'C'\n"
PROVES = "def act(view):\n    return 'C' if view.proves('them(me) == C') else 'D'\n"
ALSO = f"WAITS, SPINS, PROVES = {WAITS!r}, {SPINS!r}, {PROVES!r}\n"
INNER = "view.simulate(CONSTANT, COPYING, seat=1)"
OUTER = "view.simulate(COPYING, CONSTANT, seat=0)"
CASES = {
    "a limit that it exceeds": [OUTER, f"{OUTER[:-1]}, fuel=3_000_000)"],
    "a part of it known before": [OUTER, f"{INNER} and {OUTER}"],
    "a part of it asked for later": [f"{OUTER} and {INNER}"],
    "a repeat of what the move itself is": [
        "view.simulate(WAITS + '#', WAITS, seat=1)",
        "view.simulate(WAITS, WAITS + '#', seat=0)",
    ],
    "something to be noted": ["view.simulate(PROVES, SPINS)"],
    "a tape that both seats can see": ["view.simulate(TOSSING, CONSTANT, seat=0)"],
    "a draw, and a move that is made again": [
        "[1 for n in range(10 ** 9)] if 'SPIN' 'NING' in view.them.source"
        " else 'C' if view.simulate(DRAWING, CONSTANT) == 'C'"
        " else 'CD'[view.simulate(view.me, view.them, seat=view.seat) is view.TIMEOUT]"
    ],
}


@pytest.mark.parametrize("asked", CASES.values(), ids=CASES)
def test_what_is_known_makes_no_difference_to_a_move_with(
    sandbox: Sandbox, asked: list[str]
) -> None:
    """Each is asked by several programs, so that every one comes before another."""
    askers = [
        f"{BEFORE}{ALSO}\ndef act(view):\n    return {each}\n# {n}"
        for each in asked
        for n in range(3)
    ]
    lineups = [*zip(askers, askers[1:] + askers[:1], strict=True), (WAITS, WAITS + "#")]
    lineups += [(asker, "def act(view):\n    return 'D'  # SPINNING") for asker in askers]
    check(sandbox, batch_of(*lineups, setting=ONE_SHOT))


FROM_THE_START = """
def act(view):
    if not view.mine:
        return 'C'
    if 'SPINNING' in view.them.source:
        return [1 for n in range(10 ** 9)]
    so_far = view.simulate(view.me, view.them, history=[], rounds=2, fuel=30_000_000)
    return 'C' if so_far is view.TIMEOUT else 'D'
"""


def test_a_draw_that_is_known_counts_where_the_move_itself_is_played_out(sandbox: Sandbox) -> None:
    """After a draw the same move may be asked for again: it is not taken for one that repeats itself."""
    drawing = "def act(view):\n    return 'CC'[view.rng.random() < 0.5]  # "
    lineups = [(FROM_THE_START, f"{drawing}{n}") for n in range(9)]
    check(sandbox, batch_of(*lineups, (FROM_THE_START, f"{drawing}SPINNING"), setting=TWO_ROUNDS))


def simulations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The programs that are simulated from now on, by digest."""
    made: list[str] = []
    run = Runner.run

    def noted(self, call, *asked, **how):  # type: ignore[no-untyped-def]
        made.append(call.digest)
        return run(self, call, *asked, **how)

    monkeypatch.setattr(Runner, "run", noted)
    return made


@pytest.mark.parametrize(
    ("other", "times"), [("always_defect", 1), ("gradual", 20), ("shared_coin", 20), ("random", 20)]
)
def test_repetitions_have_the_same_simulated_once_unless_it_could_draw(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, other: str, times: int
) -> None:
    made = simulations(monkeypatch)
    batch = batch_of(*[(LIBRARY["mirror"], LIBRARY[other])] * 20, setting=ONE_SHOT)
    assert not play(sandbox, batch).faults
    assert len(made) == times


def test_in_strict_play_nothing_is_known_to_other_matches(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = simulations(monkeypatch)
    lineups = [(LIBRARY["mirror"], LIBRARY["always_defect"])] * 5
    play(sandbox, batch_of(*lineups, setting=ONE_SHOT, alone=True))
    assert len(made) == 5


SPENDING = """
SLOW = "def act(view):\\n    for _ in range(200_000): pass\\n    return view.rng.choice('CD')\\n"

def act(view):
    return view.simulate(SLOW)
"""


def test_matches_do_not_pay_for_each_other(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together they spend ten times what a move may; nothing is split for it."""
    batch = batch_of(*[(SPENDING, LIBRARY["always_defect"])] * 40, setting=ONE_SHOT)
    monkeypatch.delattr(Lockstep, "_after")
    played = play(sandbox, batch)
    assert not played.faults
    assert sum(played.fuel) > 5 * LITTLE.fuel


def test_a_match_that_spends_too_much_ends_alone(sandbox: Sandbox) -> None:
    spendthrift = SPENDING.replace(
        "return",
        "return view.me.source in view.them.source and [view.simulate(SLOW, sample=n) for n in range(9)][0] or",
    )
    lineups = [(spendthrift, LIBRARY["always_defect"]), (spendthrift, spendthrift + "# richer")]
    played = play(sandbox, batch_of(*lineups * 5, setting=ONE_SHOT))
    assert {slot: fault.kind for slot, fault in played.faults.items()} == dict.fromkeys(
        range(2, 20, 4), "fuel"
    )


def test_what_is_known_is_bounded() -> None:
    known = Memory()
    top = Top([Frame((("a", "b"), 0, (), OWN), "")])
    history = ("00",) * (MOST_KEPT // 10)
    calls = [(("a", "b"), 1, (*history, str(n)), OWN) for n in range(25)]
    for call in calls:
        trace = Trace({(call, ""): "0"})
        known.keep(call, "", top, Simulated("0", 1, Frame(call, ""), trace))
    found = [known.find(call, "", 2, top) is not None for call in calls]
    assert 0 < sum(found) < 10
    assert found[-1]
