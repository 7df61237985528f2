"""The bots of the package: the rules for their files, and how they play.

The engine never runs a bot in its own process. These tests do so for the bots that use neither
`simulate` nor `proves`, with a view of their own, so that the tests need no sandbox.
"""

import importlib.util
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.games.native import Table
from tournament.game import MatrixGame, Move, Repetition, Setting
from tournament.program import KINDS, Program, read_program
from tournament.seeds import Tape

ROOT = Path(__file__).parents[2]
GAMES = sorted(file.stem for file in (ROOT / "games").glob("[!_]*.py"))
ENGINE_TESTS = ("crasher", "staller")
PROGRAMS = {file.stem: read_program(file) for file in sorted((ROOT / "bots").glob("[!_]*.py"))}
NATIVE = [
    name
    for name, program in PROGRAMS.items()
    if "view.simulate" not in program.source and "view.proves" not in program.source
]
"""Bots that use neither `simulate` nor `proves`."""

LONG = Repetition(rounds=200)
STRANGER = Program("stranger", "def act(view):\n    return view.legal[0]\n")

Act = Callable[[SimpleNamespace], Move]


# Playing without a sandbox


@cache
def load_game(name: str, **parameters: object) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "games" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.game(**parameters)


IN_ONE_MOVE = [name for name in GAMES if isinstance(load_game(name), MatrixGame)]


def script(moves: Sequence[Move]) -> Act:
    """Return an `act` that plays these moves, whatever the others play."""
    return lambda view: moves[len(view.mine)]


def start(bot: str) -> Act:
    """Return the bot's `act` for a new match."""
    namespace: dict[str, object] = {}
    exec(compile(PROGRAMS[bot].source, f"bots/{bot}.py", "exec"), namespace)
    return namespace["Bot"]().act if "Bot" in namespace else namespace["act"]  # type: ignore


def seen_as(program: Program) -> SimpleNamespace:
    """Return a program as bots see it, with its source in the place of the canonical form."""
    return SimpleNamespace(source=program.source, tree=program.source, digest=program.digest)


def table(
    game: MatrixGame,
    programs: Sequence[Program],
    repetition: Repetition = LONG,
    rng: random.Random | None = None,
) -> list[SimpleNamespace]:
    """Return the views of all seats before the first round. `play` fills in their histories."""
    cells = {
        tuple(legal[i] for legal, i in zip(game.moves, joint, strict=True)): paid
        for joint, paid in (game.cells or {}).items()
    }
    facts = SimpleNamespace(
        name=game.name,
        parameters=dict(game.parameters),
        payoffs=cells or None,
        seats=game.seats,
        moves=game.moves,
        rounds=repetition.rounds,
        continuation=repetition.continuation,
        discount=repetition.discount,
        noise=repetition.noise,
    )
    seen = [seen_as(program) for program in programs]
    history: list[tuple[Move, ...]] = []
    return [
        SimpleNamespace(
            game=facts,
            seat=seat,
            legal=game.moves[seat],
            mine=[],
            theirs=[],
            history=history,
            observation=None,
            me=seen[seat],
            them=others[0] if len(others) == 1 else None,
            others=others,
            rng=rng or Tape(f"private/{seat}"),
            shared=Tape("shared"),
        )
        for seat in range(game.seats)
        if (others := seen[seat + 1 :] + seen[:seat])
    ]


def play_round(views: list[SimpleNamespace], joint: tuple[Move, ...]) -> None:
    """Add a joint move to the view of every seat."""
    views[0].history.append(joint)
    for seat, view in enumerate(views):
        others = joint[seat + 1 :] + joint[:seat]
        view.mine.append(joint[seat])
        view.theirs.append(others[0] if len(others) == 1 else others)


def play(views: list[SimpleNamespace], seats: Sequence[Act], rounds: int) -> list[list[Move]]:
    """Play this many rounds and return the moves of every seat."""
    for _ in range(rounds):
        play_round(views, tuple(act(view) for act, view in zip(seats, views, strict=True)))
    return [view.mine for view in views]


def versus(
    bot: str,
    moves: Sequence[Move],
    *,
    game: str = "prisoners_dilemma",
    seat: int = 0,
    repetition: Repetition = LONG,
) -> list[Move]:
    """Return the moves of a bot in this seat against a script."""
    lineup = [(PROGRAMS[bot], start(bot)), (STRANGER, script(moves))]
    if seat == 1:
        lineup.reverse()
    programs, seats = zip(*lineup, strict=True)
    views = table(load_game(game), programs, repetition)
    return play(views, seats, len(moves))[seat]


def meeting(*bots: str, game: str = "prisoners_dilemma", rounds: int = 1) -> list[list[Move]]:
    """Return the moves of bots that play against each other, by seat."""
    views = table(load_game(game), [PROGRAMS[bot] for bot in bots])
    return play(views, [start(bot) for bot in bots], rounds)


def next_move(bot: str, mine: str, theirs: str, draw: float | None = None) -> Move:
    """Return the move of a bot after these rounds, if the next number of its tape is `draw`."""
    tape = None if draw is None else Draws(draw)
    views = table(load_game("prisoners_dilemma"), [PROGRAMS[bot], STRANGER], rng=tape)
    act = start(bot)
    for joint in zip(mine, theirs, strict=True):
        act(views[0])
        play_round(views, joint)
    return act(views[0])


class Draws(random.Random):
    """A tape on which every number is the same."""

    def __new__(cls, draw: float) -> "Draws":
        return super().__new__(cls, 0)

    def __init__(self, draw: float) -> None:
        self.draw = draw

    def random(self) -> float:
        return self.draw


# Rules for the file of a bot


@pytest.mark.parametrize("name", PROGRAMS)
class TestEveryBot:
    def test_its_docstring_begins_with_one_sentence_on_what_it_does(self, name: str) -> None:
        summary = PROGRAMS[name].summary
        assert summary[:1].isupper() and summary.endswith(".")

    def test_its_docstring_names_its_author(self, name: str) -> None:
        assert PROGRAMS[name].header("Names")

    def test_its_header_names_only_games_and_kinds_of_play_that_exist(self, name: str) -> None:
        asked = {*GAMES, *KINDS} if name not in ENGINE_TESTS else {"nothing"}
        assert set(PROGRAMS[name].plays) <= asked

    def test_it_fits_at_least_one_game_unless_it_tests_the_engine(self, name: str) -> None:
        settings = [Setting(load_game(game)) for game in GAMES]
        settings += [Setting(load_game(game), LONG) for game in IN_ONE_MOVE]
        fits = any(PROGRAMS[name].fits(setting) for setting in settings)
        assert fits == (name not in ENGINE_TESTS)

    def test_it_is_short(self, name: str) -> None:
        assert PROGRAMS[name].source.count("\n") < 120

    def test_it_defines_an_act_function_or_a_bot_class(self, name: str) -> None:
        namespace: dict[str, object] = {}
        exec(compile(PROGRAMS[name].source, f"bots/{name}.py", "exec"), namespace)
        assert callable(namespace.get("act")) != isinstance(namespace.get("Bot"), type)

    def test_it_imports_nothing_of_the_engine(self, name: str) -> None:
        assert "import tournament" not in PROGRAMS[name].source
        assert "from tournament" not in PROGRAMS[name].source


def test_no_two_bots_are_the_same_program() -> None:
    assert len({program.digest for program in PROGRAMS.values()}) == len(PROGRAMS)


def test_the_library_has_at_least_28_bots() -> None:
    assert len(PROGRAMS) >= 28


@pytest.mark.parametrize("name", NATIVE)
def test_a_bot_plays_legal_moves_of_the_right_type_in_every_game_that_it_fits(name: str) -> None:
    for game in map(load_game, IN_ONE_MOVE):
        for repetition in (Repetition(), Repetition(rounds=None, continuation=0.9)):
            if not PROGRAMS[name].fits(Setting(game, repetition)):
                continue
            for opponent in (PROGRAMS[name], PROGRAMS["random"]):
                programs = [PROGRAMS[name]] + [opponent] * (game.seats - 1)
                views = table(game, programs, repetition)
                seats = [start(program.name) for program in programs]
                for seat, moves in enumerate(play(views, seats, repetition.rounds or 20)):
                    assert {(type(m), m) for m in moves} <= {(type(m), m) for m in game.moves[seat]}


@pytest.mark.parametrize("name", NATIVE)
def test_a_bot_plays_legal_moves_in_every_game_with_a_state_that_it_fits(name: str) -> None:
    for game in map(load_game, {*GAMES} - {*IN_ONE_MOVE}):
        if PROGRAMS[name].fits(Setting(game)):
            for opponent in (name, "random"):
                Table(game, [name, opponent], Tape("any")).play()


# Prisoner's dilemma: plays against a script

VERSUS = {
    "always_cooperate": [("CDCD", "CCCC")],
    "always_defect": [("CDCD", "DDDD")],
    "tit_for_tat": [("CDCDCD", "CCDCDC"), ("DDDC", "CDDD"), ("CCCC", "CCCC")],
    "suspicious_tit_for_tat": [("CDCDCD", "DCDCDC")],
    "tit_for_two_tats": [("CDCDCD", "CCCCCC"), ("DDDCDD", "CCDDCC")],
    "two_tits_for_tat": [("CDCCC", "CCDDC"), ("CDDCCC", "CCDDDC")],
    "contrite_tit_for_tat": [("CDCDCD", "CCDCDC"), ("DDDC", "CDDD")],
    "grim": [("CCCC", "CCCC"), ("CDCCC", "CCDDD")],
    "win_stay_lose_shift": [("DDDDDD", "CDCDCD"), ("CDCCC", "CCDDD"), ("CDDC", "CCDC")],
    "gradual": [("CDCCCCDCCCCCC", "CCDCCCCDDCCCC"), ("DDDDDDDDDDD", "CDCCDDCCDDD")],
    "soft_majority": [("DCDDC", "CDCDD"), ("CDDCC", "CCCDC")],
    "handshake": [("CDCDC", "CDCCC"), ("CCCC", "CDDD"), ("DDCC", "CDDD")],
    "prober": [("CCCCD", "DCCDD"), ("CDCDCD", "DCCCDC")],
    "bully": [("CCDDC", "DDDCC")],
    "adaptive": [("C" * 13, "CCCCCCDDDDDDD"), ("D" * 13, "CCCCCCDDDDDDD")],
    "joss": [("DDDD", "CDDD")],
    "generous_tit_for_tat": [("CCCC", "CCCC")],
    "firm_but_fair": [("CCDC", "CCCD")],
}


@pytest.mark.parametrize(
    ("bot", "moves", "expected"),
    [(bot, *play) for bot, plays in VERSUS.items() for play in plays],
)
def test_a_bot_answers_a_script_as_the_literature_says(bot: str, moves: str, expected: str) -> None:
    assert "".join(map(str, versus(bot, moves))) == expected


DRAWN = {
    "mostly_defect": {("", ""): 0.19, ("C", "D"): 0.19},
    "joss": {("C", "C"): 0.9, ("D", "C"): 0.9},
    "generous_tit_for_tat": {("C", "D"): 1 / 3, ("D", "D"): 1 / 3},
    "firm_but_fair": {("D", "D"): 2 / 3},
    "extort_two": {("C", "C"): 8 / 9, ("C", "D"): 1 / 2, ("D", "C"): 1 / 3},
}
"""Probabilities of cooperating after a last round, by own move and the opponent's."""


@pytest.mark.parametrize(
    ("bot", "last", "probability"),
    [(bot, last, p) for bot, reactions in DRAWN.items() for last, p in reactions.items()],
)
def test_a_bot_cooperates_with_the_published_probability(
    bot: str, last: tuple[str, str], probability: float
) -> None:
    assert next_move(bot, *last, draw=probability - 1e-9) == "C"
    assert next_move(bot, *last, draw=probability + 1e-9) == "D"


def test_extort_two_never_makes_peace_first() -> None:
    assert next_move("extort_two", "D", "D", draw=0.0) == "D"


def test_extort_two_gains_twice_what_an_unconditional_cooperator_gains() -> None:
    """It plays C in three rounds of four, which pays it 3.5 and the cooperator 2.25 per round."""
    moves = versus("extort_two", "C" * 20_000)
    often = moves.count("C") / len(moves)
    assert often == pytest.approx(3 / 4, abs=0.02)
    mine, theirs = 3 * often + 5 * (1 - often), 3 * often
    assert mine - 1 == pytest.approx(2 * (theirs - 1), abs=0.2)


def test_adaptive_comes_back_to_cooperation_with_tit_for_tat() -> None:
    adaptive, _ = meeting("adaptive", "tit_for_tat", rounds=20)
    assert "".join(map(str, adaptive)) == "CCCCCCDDDDDCCCCCCCCC"


@pytest.mark.parametrize(
    ("repetition", "expected"),
    [
        (Repetition(rounds=4), "CCCD"),
        (Repetition(rounds=5), "CCCC"),
        (Repetition(rounds=None, continuation=0.9), "CCCC"),
    ],
)
def test_last_round_defector_defects_in_the_last_round_if_it_is_known(
    repetition: Repetition, expected: str
) -> None:
    moves = versus("last_round_defector", "CCCC", repetition=repetition)
    assert "".join(map(str, moves)) == expected


def test_last_round_defector_defects_in_a_one_shot_game() -> None:
    assert versus("last_round_defector", "C", repetition=Repetition(rounds=1)) == ["D"]


@pytest.mark.parametrize(
    ("bot", "after_the_slip"),
    [
        ("tit_for_tat", "DC CD DC CD"),
        ("contrite_tit_for_tat", "DC CD CC CC"),
        ("win_stay_lose_shift", "DC DD CC CC"),
        ("grim", "DC CD DD DD"),
    ],
)
def test_two_copies_continue_after_an_error_as_the_literature_says(
    bot: str, after_the_slip: str
) -> None:
    """The first of two copies intended to cooperate, but noise made it defect."""
    views = table(load_game("prisoners_dilemma"), [PROGRAMS[bot]] * 2)
    seats = [start(bot), start(bot)]
    play(views, seats, 2)
    assert [act(view) for act, view in zip(seats, views, strict=True)] == ["C", "C"]
    play_round(views, ("D", "C"))
    play(views, seats, 3)
    assert " ".join(map("".join, views[0].history[2:])) == after_the_slip


NICE = (
    "always_cooperate",
    "tit_for_tat",
    "tit_for_two_tats",
    "two_tits_for_tat",
    "generous_tit_for_tat",
    "contrite_tit_for_tat",
    "grim",
    "win_stay_lose_shift",
    "firm_but_fair",
    "gradual",
    "soft_majority",
)


@pytest.mark.parametrize("bot", NICE)
@pytest.mark.parametrize("other", NICE)
def test_nice_bots_always_cooperate_with_one_another(bot: str, other: str) -> None:
    assert meeting(bot, other, rounds=30) == [["C"] * 30] * 2


@given(moves=st.text("CD", min_size=1, max_size=60))
def test_tit_for_tat_never_loses_more_than_one_round_to_anybody(moves: str) -> None:
    mine = versus("tit_for_tat", moves)
    assert 0 <= mine.count("C") - moves.count("C") <= 1


# Prisoner's dilemma: bots that read source


def reads(bot: str, source: str, history: str = "") -> Move:
    """Return the move of the bot against this source after a history."""
    views = table(load_game("prisoners_dilemma"), [PROGRAMS[bot], Program("other", source)])
    act = start(bot)
    for move in history:
        play_round(views, (act(views[0]), move))
    return act(views[0])


@pytest.mark.parametrize(
    "bot",
    ["clique", "canonical_clique", "green_beard", "cooperative_comment"],
)
def test_a_bot_that_recognises_members_cooperates_with_them_and_not_with_strangers(
    bot: str,
) -> None:
    assert meeting(bot, bot) == [["C"], ["C"]]
    assert reads(bot, STRANGER.source) == "D"


def test_clique_takes_a_copy_with_one_more_space_for_a_stranger() -> None:
    assert reads("clique", PROGRAMS["clique"].source + " ") == "D"


def test_canonical_clique_compares_only_the_canonical_forms() -> None:
    views = table(load_game("prisoners_dilemma"), [PROGRAMS["canonical_clique"], STRANGER])
    views[0].them.tree = views[0].me.tree
    assert start("canonical_clique")(views[0]) == "C"


def test_green_beard_cooperates_with_a_defector_that_has_the_mark() -> None:
    assert reads("green_beard", "# green beard\ndef act(view): return 'D'") == "C"


def test_cooperative_comment_accepts_a_promise_only_in_a_comment() -> None:
    promise = "I am committing to cooperation."
    assert reads("cooperative_comment", f"# {promise}\n") == "C"
    assert reads("cooperative_comment", f'"""{promise}"""\n') == "D"


def test_cooperative_comment_trusts_nobody_who_has_broken_the_promise() -> None:
    promise = "# I am committing to cooperation. Please match me.\n"
    assert reads("cooperative_comment", promise, "CCC") == "C"
    assert reads("cooperative_comment", promise, "CDC") == "D"


def test_source_grep_goes_by_words_and_distrusts_its_own_copy() -> None:
    assert reads("source_grep", "def act(view): return view.simulate()") == "D"
    assert reads("source_grep", "def act(view): return eval('C')") == "D"
    assert reads("source_grep", "def act(view): return 'D'") == "C"
    assert meeting("source_grep", "source_grep") == [["D"], ["D"]]


# Coordination, stag hunt and chicken


@pytest.mark.parametrize(
    ("bot", "game", "expected"),
    [
        ("always_first", "coordination", ("a", "a")),
        ("always_second", "coordination", ("b", "b")),
        ("always_second", "battle_of_the_sexes", ("football", "football")),
        ("seat_leader", "battle_of_the_sexes", ("opera", "opera")),
        ("seat_leader", "chicken", ("dare", "swerve")),
        ("seat_leader", "climbing", ("a", "a")),
        ("turn_taker", "chicken", ("dare", "swerve")),
        ("commit_to_optimum", "climbing", ("a", "a")),
        ("commit_to_optimum", "penalty", ("a", "a")),
        ("commit_to_optimum", "stag_hunt", ("stag", "stag")),
        ("maximin", "climbing", ("c", "c")),
        ("maximin", "penalty", ("b", "b")),
        ("maximin", "stag_hunt", ("hare", "hare")),
        ("maximin", "chicken", ("swerve", "swerve")),
        ("always_stag", "stag_hunt", ("stag", "stag")),
        ("always_hare", "stag_hunt", ("hare", "hare")),
        ("always_dare", "chicken", ("dare", "dare")),
        ("always_swerve", "chicken", ("swerve", "swerve")),
    ],
)
def test_two_copies_coordinate_as_intended(
    bot: str, game: str, expected: tuple[Move, Move]
) -> None:
    assert meeting(bot, bot, game=game) == [[move] for move in expected]


def test_turn_takers_favour_the_seats_in_turn() -> None:
    first, second = meeting("turn_taker", "turn_taker", game="battle_of_the_sexes", rounds=4)
    assert first == second == ["opera", "football", "opera", "football"]


def test_bots_with_the_shared_coin_always_agree_and_favour_both_meetings() -> None:
    first, second = meeting("shared_coin", "shared_coin", game="battle_of_the_sexes", rounds=50)
    assert first == second
    assert set(first) == {"opera", "football"}


def test_two_shared_coin_chickens_follow_the_same_advice_and_never_crash() -> None:
    seats = meeting("shared_coin_chicken", "shared_coin_chicken", game="chicken", rounds=50)
    joints = set(zip(*seats, strict=True))
    assert joints == {("dare", "swerve"), ("swerve", "dare"), ("swerve", "swerve")}


@pytest.mark.parametrize("advised", ["dare", "swerve"])
def test_obeying_the_coin_is_a_best_reply_to_an_opponent_that_obeys_it(advised: str) -> None:
    """The inequalities of a correlated equilibrium, for the default payoffs."""
    advice: list[tuple[str, str]] = [("dare", "swerve"), ("swerve", "dare"), ("swerve", "swerve")]
    payoffs = table(load_game("chicken"), [STRANGER, STRANGER])[0].game.payoffs
    others = [theirs for mine, theirs in advice if mine == advised]
    welfare_of = {
        mine: sum(payoffs[mine, other][0] for other in others) for mine in ("dare", "swerve")
    }
    assert welfare_of[advised] == max(welfare_of.values())


def test_hash_breaker_dares_against_the_greater_digest_only() -> None:
    for digest, expected in [("0" * 64, "swerve"), ("f" * 64, "dare")]:
        views = table(load_game("chicken"), [PROGRAMS["hash_breaker"], STRANGER])
        views[0].them.digest = digest
        assert start("hash_breaker")(views[0]) == expected


def test_just_one_of_two_hash_breakers_dares() -> None:
    seats = meeting("hash_breaker", "hash_breaker", game="chicken", rounds=50)
    joints = set(zip(*seats, strict=True))
    assert joints == {("dare", "swerve"), ("swerve", "dare")}


@pytest.mark.parametrize(
    ("game", "seat", "moves", "expected"),
    [
        ("stag_hunt", 0, ["stag"] * 7, ["hare"] * 2 + ["stag"] * 5),
        ("matching_pennies", 0, ["heads", "tails", "tails"], ["heads", "heads", "heads"]),
        ("matching_pennies", 1, ["heads", "tails", "tails"], ["heads", "tails", "heads"]),
        ("rock_paper_scissors", 0, ["rock"] * 3, ["rock", "paper", "paper"]),
    ],
)
def test_fictitious_play_replies_to_frequencies_from_either_seat(
    game: str, seat: int, moves: list[Move], expected: list[Move]
) -> None:
    assert versus("fictitious_play", moves, game=game, seat=seat) == expected


# Rock, paper, scissors


def throws(bot: str, moves: str) -> str:
    """Return the moves of a bot against a script, as initials."""
    names = {"r": "rock", "p": "paper", "s": "scissors"}
    shown = versus(bot, [names[move] for move in moves], game="rock_paper_scissors")
    return "".join(str(move)[0] for move in shown)


def score(mine: str, theirs: str) -> int:
    """Return the number of rounds won minus the number of rounds lost."""
    wins = {"pr", "sp", "rs"}
    rounds = [a + b for a, b in zip(mine, theirs, strict=True)]
    return sum((r in wins) - (r[::-1] in wins) for r in rounds)


@pytest.mark.parametrize(
    ("bot", "moves", "expected"),
    [
        ("always_rock", "ppp", "rrr"),
        ("cycle", "rrrrr", "rpsrp"),
    ],
)
def test_a_bot_for_rock_paper_scissors_plays_as_the_literature_says(
    bot: str, moves: str, expected: str
) -> None:
    assert throws(bot, moves) == expected


def test_frequency_beats_the_commonest_move_and_of_equally_common_ones_the_first() -> None:
    assert throws("frequency", "sspppr")[1:] == "rrrss"


def test_markov_beats_the_habitual_next_move() -> None:
    assert throws("markov", "rpsrpsrps")[4:] == "srpsr"


@pytest.mark.parametrize("habit", ["r", "rps", "rrpps", "rpsspr"])
def test_iocaine_powder_wins_nearly_every_round_from_any_habit(habit: str) -> None:
    moves = (habit * 200)[:200]
    assert score(throws("iocaine_powder", moves)[50:], moves[50:]) > 140


def test_iocaine_powder_loses_little_to_chance() -> None:
    tape = Tape("opponent")
    moves = "".join(tape.choice("rps") for _ in range(300))
    assert abs(score(throws("iocaine_powder", moves), moves)) < 60


# Public goods


@pytest.mark.parametrize(
    ("bots", "expected"),
    [
        (["free_rider"] * 3, [[0, 0, 0]] * 3),
        (["full_contributor"] * 3, [[10, 10, 10]] * 3),
        (["conditional_contributor"] * 3, [[10, 10, 10]] * 3),
        (["contributor_clique"] * 3, [[10, 10, 10]] * 3),
        (
            ["conditional_contributor", "free_rider", "free_rider"],
            [[10, 0, 0], [0, 0, 0], [0, 0, 0]],
        ),
        (
            ["conditional_contributor", "conditional_contributor", "free_rider"],
            [[10, 5, 2], [10, 5, 2], [0, 0, 0]],
        ),
        (
            ["contributor_clique", "contributor_clique", "full_contributor"],
            [[0, 0, 0], [0, 0, 0], [10, 10, 10]],
        ),
    ],
)
def test_bots_for_public_goods_give_the_amounts_in_their_docstrings(
    bots: list[str], expected: list[list[int]]
) -> None:
    assert meeting(*bots, game="public_goods", rounds=3) == expected


def test_conditional_contributor_matches_a_single_partner() -> None:
    game = load_game("public_goods", seats=2)
    views = table(game, [PROGRAMS["conditional_contributor"], STRANGER])
    given_by = play(views, [start("conditional_contributor"), script([3, 7, 0])], 3)
    assert given_by[0] == [10, 3, 7]


def test_random_plays_every_legal_move_equally_often() -> None:
    views = table(load_game("public_goods"), [PROGRAMS["random"]] * 3)
    act = start("random")
    moves = [act(views[0]) for _ in range(11_000)]
    assert {move: moves.count(move) for move in set(moves)} == {
        move: pytest.approx(1000, abs=150) for move in range(11)
    }
