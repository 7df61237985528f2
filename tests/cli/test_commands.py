"""Every command prints what its help promises, as text and as JSON, and no match is played twice."""

import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.published import NAMES, published_matrix
from tournament.cli import app
from tournament.runs.replay import Replay, replay
from tournament.store import Record

BOTS = Path(__file__).parents[2] / "bots"
DB = ("--db", "record.duckdb")
COMMANDS = {
    each.name or each.callback.__name__: each.callback.__doc__ or ""
    for each in app.registered_commands
    if each.callback
}


def example(command: str) -> str:
    """Return the example in a command's help."""
    [line] = re.findall(r"Example: (tournament .*)", COMMANDS[command])
    return str(line)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_of_itself(tournament: Any, command: str) -> None:
    shown = " ".join(tournament(command, "--help").out.split())
    assert f"Example: {example(command)}" in shown
    assert example(command).split()[1] == command


def test_the_examples_in_the_help_work_as_printed(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat", "always_defect", "random")
    (tournament.folder / "my_bot.py").write_text("def act(view):\n    return view.legal[0]\n")
    for command in (
        *("run", "list", "check", "play", "leaderboard"),
        *("matrix", "replay", "digest", "sql"),
    ):
        assert tournament(*shlex.split(example(command))[1:]).out


def test_without_a_command_the_help_is_printed(tournament: Any) -> None:
    done = tournament(code=None)
    assert all(command in done.out + done.err for command in COMMANDS)


def test_a_match_as_json_has_joint_moves_payoffs_and_faults(tournament: Any) -> None:
    done = tournament("play", "tit_for_tat", "always_defect", "--rounds", 3, "--json")
    assert done.json == {
        "game": "prisoners_dilemma",
        "bots": ["tit_for_tat", "always_defect"],
        "rounds": 3,
        "moves": [["C", "D"], ["D", "D"], ["D", "D"]],
        "intended": None,
        "payoffs": [2, 7],
        "faults": [],
        "fuel": done.json["fuel"],
        "notes": [],
    }
    assert done.lines == []


def test_a_match_as_text_shows_every_round(tournament: Any) -> None:
    out = tournament("play", "tit_for_tat", "always_defect", "--rounds", 2).out
    table = [line.split() for line in out.splitlines() if line.strip()]
    assert table[0] == ["round", "0:", "tit_for_tat", "1:", "always_defect"]
    assert table[2:] == [["1", "C", "D"], ["2", "D", "D"], ["payoff", "1", "6"]]


def test_a_fault_is_reported_with_its_line_and_with_what_the_bot_had_printed(
    tournament: Any, bots: Any
) -> None:
    source = 'def act(view):\n    print("before")\n    return {}["missing"]\n'
    file = bots(bad=source) / "bad.py"
    words = ("play", file, "tit_for_tat", "--rounds", 4)
    out = tournament(*words, code=1).out
    for text in ("bad: error in round 1: KeyError: 'missing'", "line 3, in act", "before"):
        assert text in out
    result = tournament(*words, "--json", code=1).json
    # The bot at fault gets the worst payoff for every remaining round, and the match is not scored for the other.
    assert result["payoffs"] == [0, None]
    [fault] = result["faults"]
    assert {name: fault[name] for name in ("bot", "seat", "kind", "round", "output")} == {
        "bot": "bad",
        "seat": 0,
        "kind": "error",
        "round": 0,
        "output": "before\n",
    }


TANGLED = """
def act(view):
    statements = (f"them(me) == C or me(them) == {n}" for n in range(205))
    return "C" if all(map(view.proves, statements)) else "D"
"""


def test_a_proof_that_was_not_decided_is_reported_and_recorded_with_its_bound(
    tournament: Any, bots: Any
) -> None:
    folder = bots(tangled=TANGLED)
    file = folder / "tangled.py"
    result = tournament("play", file, "always_defect", "--json").json
    [note] = result["notes"]
    assert {name: note[name] for name in ("bot", "seat", "round")} == {
        "bot": "tangled",
        "seat": 0,
        "round": 0,
    }
    assert note["note"].startswith("not proved: ")
    out = tournament("play", file, "always_defect").out
    assert f"tangled in round 1: {note['note']}" in out
    tournament("run", "--pop", folder, "--db", "notes.duckdb", "--reps", 1)
    rows = tournament("sql", "from notes", "--db", "notes.duckdb", "--json").json
    assert [(row["round"], row["note"]) for row in rows] == [(0, note["note"])] * 2


@pytest.mark.parametrize("value", ["None", "'X'", "3.0", "True", "['C']", "1", "''", "'c'", "b'C'"])
def test_an_illegal_move_is_a_fault_whose_message_shows_the_value(
    recorded_runs: Any, bots: Any, value: str
) -> None:
    file = bots(odd=f"def act(view):\n    return {value}\n") / "odd.py"
    result = recorded_runs("play", file, "tit_for_tat", "--json", code=1).json
    [fault] = result["faults"]
    shown = "an object of type list" if value == "['C']" else f"{value} ("
    assert fault["kind"] == "illegal"
    assert fault["message"].startswith(f"moved {shown}")
    assert fault["message"].endswith("legal are 'C', 'D'")


def test_a_hidden_horizon_is_hidden_from_the_bots(tournament: Any, bots: Any) -> None:
    file = (
        bots(spy="def act(view):\n    return 'C' if view.game.rounds is None else 'X'\n") / "spy.py"
    )
    result = tournament("play", file, file, "--continue", 0.99, "--json").json
    assert result["rounds"] == len(result["moves"]) > 1
    tournament("play", file, file, "--rounds", 2, code=1)


def test_with_noise_both_the_played_and_the_intended_moves_are_shown(tournament: Any) -> None:
    words = ("play", "tit_for_tat", "tit_for_tat", "--rounds", 30, "--noise", 0.2, "--json")
    result = tournament(*words).json
    pairs = [*zip(result["intended"], result["moves"], strict=True)]
    assert 2 < sum(intended != played for intended, played in pairs) < 25
    for (_, before), (intended, _) in itertools.pairwise(pairs):
        assert intended == before[::-1]  # tit for tat answers the moves that were played


def test_any_whole_number_is_a_seed(tournament: Any) -> None:
    def moves(seed: int) -> object:
        words = ("play", "random", "random", "--rounds", 20, "--seed", seed, "--json")
        return tournament(*words).json["moves"]

    seeds = (0, -1, 10**60)
    played = [moves(seed) for seed in seeds]
    assert all(one != other for n, one in enumerate(played) for other in played[:n])
    assert moves(10**60) == played[-1]


def test_the_standings_agree_with_those_worked_out_by_hand(tournament: Any, bots: Any) -> None:
    bots("always_cooperate", "always_defect", "tit_for_tat")
    run = ("run", "--pop", "bots", "--rounds", 10, "--reps", 2, "--db", "record.duckdb")
    standings = tournament(*run, "--json").json
    assert [(row["rank"], row["bot"], row["score"], row["matches"]) for row in standings] == [
        (1, "always_defect", pytest.approx((5 + 1 + 1.4) / 3, abs=1e-8), 6),
        (2, "tit_for_tat", pytest.approx((3 + 0.9 + 3) / 3, abs=1e-8), 6),
        (3, "always_cooperate", pytest.approx((3 + 0 + 3) / 3, abs=1e-8), 6),
    ]
    cells = tournament("matrix", "--db", "record.duckdb", "--json").json
    assert {(row["bot"], row["opponent"]): row["payoff"] for row in cells} == {
        ("always_cooperate", "always_cooperate"): 3,
        ("always_cooperate", "always_defect"): 0,
        ("always_cooperate", "tit_for_tat"): 3,
        ("always_defect", "always_cooperate"): 5,
        ("always_defect", "always_defect"): 1,
        ("always_defect", "tit_for_tat"): 1.4,
        ("tit_for_tat", "always_cooperate"): 3,
        ("tit_for_tat", "always_defect"): 0.9,
        ("tit_for_tat", "tit_for_tat"): 3,
    }


@pytest.mark.parametrize("names", [["tit_for_tat"], ["always_cooperate", "tit_for_tat"]])
def test_a_single_match_and_drawn_matches_give_standings_without_odd_numbers(
    tournament: Any, bots: Any, names: list[str]
) -> None:
    bots(*names)
    standings = tournament("run", "--pop", "bots", "--reps", 1, "--json").json
    assert [row["score"] for row in standings] == [3] * len(names)
    assert [row["rank"] for row in standings] == [1] * len(names)
    assert all(row["error"] in (None, 0) for row in standings)


def test_the_json_of_every_command_that_reads_the_record_has_its_columns(
    recorded_runs: Any,
) -> None:
    db = ("--db", "record.duckdb", "--json")

    def columns(*words: object) -> set[str]:
        rows = recorded_runs(*words, *db).json
        assert rows
        assert len({tuple(row) for row in rows}) == 1
        return set(rows[0])

    assert columns("leaderboard") == {
        "rank",
        "bot",
        "score",
        "error",
        "matches",
        "faults",
        "unscored",
    }
    assert columns("matrix") == {"bot", "opponent", "payoff", "error", "matches"}
    assert columns("list", "games") >= {"game", "seats", "kind", "moves", "parameters", "about"}
    assert columns("list", "bots") == {"bot", "plays", "about"}
    assert columns("list", "runs") >= {
        "run",
        "game",
        "rounds",
        "noise",
        "seed",
        "status",
        "matches",
    }
    assert columns("sql", "select 1 as a, 2 as b") == {"a", "b"}
    assert recorded_runs("digest", *db).json == {"run": 2, "digest": recorded_runs.digest(run=2)}
    replayed = recorded_runs("replay", 1, *db).json
    assert replayed["match"] == 1
    assert replayed["identical"] is replayed["same_image"] is True
    checked = recorded_runs("check", "bots/tit_for_tat.py", "--json").json
    assert [(row["file"], row["ok"], row["findings"]) for row in checked] == [
        ("bots/tit_for_tat.py", True, [])
    ]


def test_printed_tables_show_the_values_on_record(recorded_runs: Any) -> None:
    standings = recorded_runs.rows("select rank, bot, score from leaderboard where run = 2")
    out = recorded_runs("leaderboard", *DB).out
    for rank, bot, score in standings:
        assert re.search(rf"{rank} +{bot} +{score:.3f}", out)
    lines = [line.split() for line in recorded_runs("matrix", *DB).out.splitlines() if line.strip()]
    assert lines[0] == ["bot", *map(str, range(4))]
    assert [line[:2] for line in lines[2:]] == [
        [str(number), bot] for number, (_, bot, _) in enumerate(standings)
    ]


def test_faults_of_one_bot_do_not_unrank_the_others_and_are_counted_apart_from_losses(
    recorded_runs: Any,
) -> None:
    query = (
        "select bot, score is not null, matches, faults, unscored from leaderboard where run = 1"
    )
    assert sorted(recorded_runs.rows(query)) == [
        ("always_defect", True, 8, 0, 2),
        ("late", True, 8, 8, 0),
        ("random", True, 8, 0, 2),
        ("tit_for_tat", True, 8, 0, 2),
    ]
    assert recorded_runs.rows(
        "select bot, kind, count, example from fault_counts where run = 1"
    ) == [("late", "error", 10, "ValueError: I give up")]


def test_the_latest_run_is_shown_unless_another_is_named(recorded_runs: Any) -> None:
    for command in ("leaderboard", "matrix"):
        latest, older = (recorded_runs(command, *DB, *more).out for more in ((), ("--run", 1)))
        assert latest != older
    assert recorded_runs("digest", *DB).out == f"{recorded_runs.digest(run=2)}\n"
    assert recorded_runs("digest", 1, *DB).out == f"{recorded_runs.digest(run=1)}\n"
    assert recorded_runs.digest(run=1) != recorded_runs.digest(run=2)


def test_the_json_answer_to_a_query_keeps_every_column_and_number(recorded_runs: Any) -> None:
    query = """
        select 1 as a, 2 as a, 1.25 as decimal, 1/0 as infinite, 'nan'::double as nan,
            170141183460469231731687303715884105727 as huge, [1, null] as list, date '2020-01-02' as day
    """
    [row] = recorded_runs("sql", query, "--db", "record.duckdb", "--json").json
    assert row == {
        "a": 1,
        "a_2": 2,
        "decimal": 1.25,
        "infinite": None,
        "nan": None,
        "huge": 2**127 - 1,
        "list": [1, None],
        "day": "2020-01-02",
    }
    empty = recorded_runs("sql", "select 1 as one, 2 as two where false", "--db", "record.duckdb")
    assert empty.out.split()[:2] == ["one", "two"]


def test_queries_are_read_from_stdin_and_one_that_fails_does_not_stop_the_next(
    recorded_runs: Any,
) -> None:
    queries = "select 11 as x;\nselect\n 12\n as y;\nnonsense;\nselect 13 as z"
    done = recorded_runs("sql", "--db", "record.duckdb", stdin=queries, code=2)
    assert [word for word in done.out.split() if word.isdigit()] == ["11", "12", "13"]
    assert len(done.lines) == 1
    assert "nonsense" in done.err
    answers = recorded_runs("sql", "--db", "record.duckdb", "--json", stdin="select 1 as a\n\n")
    assert answers.json == [{"a": 1}]
    assert recorded_runs("sql", "--db", "record.duckdb", stdin="").out == ""


def test_a_query_can_neither_change_the_record_nor_read_other_files(recorded_runs: Any) -> None:
    queries = (
        "insert into matches select * from matches",
        "delete from matches",
        "drop table matches",
        "copy matches to 'out.csv'",
        "copy (select 1) to 'out.csv'",
        "attach 'other.db'",
        "select * from read_text('/etc/passwd')",
        "select getenv('HOME')",
        "install httpfs",
        "select 1; drop table matches",
    )
    before = (recorded_runs.folder / "record.duckdb").read_bytes()
    done = recorded_runs("sql", "--db", "record.duckdb", stdin=";\n".join(queries), code=2)
    assert done.out == ""
    assert len(done.lines) == len(queries)
    done = recorded_runs("sql", queries[1], "--db", "record.duckdb", code=2)
    assert (done.out, len(done.lines)) == ("", 1)
    assert (recorded_runs.folder / "record.duckdb").read_bytes() == before
    there = {path.name for path in recorded_runs.folder.iterdir()}
    assert there == {"bots", "record.duckdb", "record.duckdb.lock"}


def test_the_same_command_again_plays_nothing_new(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat", "random")
    run = ("run", "--pop", "bots", "--rounds", 5, "--reps", 2, "--db", "record.duckdb")
    first = tournament(*run)
    assert "6 matches played, recorded as run 1" in first.lines[-1]
    digest = tournament.digest()
    again = tournament(*run)
    assert "already played: 6 matches" in again.lines
    assert "0 matches played, recorded as run 1" in again.lines[-1]
    assert again.out == first.out
    assert tournament.digest() == digest
    assert tournament.rows("select count(*) from matches") == [(6,)]


def test_runs_with_different_seeds_and_games_share_a_file_without_mixing(
    tournament: Any, bots: Any
) -> None:
    bots("tit_for_tat", "random", fair="def act(view):\n    return view.legal[0]\n")
    run = ("run", "--pop", "bots", "--reps", 1, "--db", "record.duckdb")
    for number, more in enumerate(
        [(), ("--seed", 1), ("--game", "stag_hunt"), ("--set", "reward=4")], 1
    ):
        assert f"recorded as run {number}" in tournament(*run, *more).lines[-1]
    assert "0 matches played, recorded as run 1" in tournament(*run).lines[-1]
    runs = tournament("list", "runs", "--db", "record.duckdb", "--json").json
    assert [(row["game"], row["seed"], row["sessions"], row["matches"]) for row in runs] == [
        ("prisoners_dilemma", "0", 2, 6),
        ("prisoners_dilemma", "1", 1, 6),
        ("stag_hunt", "0", 1, 3),
        ("prisoners_dilemma", "0", 1, 6),
    ]
    assert len({tournament.digest(run=number) for number in range(1, 5)}) == 4


def test_each_file_left_out_is_listed_with_its_reason_and_bots_for_other_games_in_one_line(
    tournament: Any, bots: Any
) -> None:
    folder = bots(
        "tit_for_tat", "always_stag", "always_rock",
        repeated='"""x\n\nPlays: repeated\n"""\ndef act(view):\n    return "C"\n',
    )  # fmt: skip
    (folder / "latin.py").write_bytes(b"# \xe9\n")
    (folder / "copy.py").write_bytes((folder / "tit_for_tat.py").read_bytes())
    (folder / "a\nb.py").write_text("def act(view): ...")
    lines = tournament("run", "--pop", "bots", "--reps", 1, "--db", "record.duckdb").lines
    assert [line for line in lines if line.startswith("left out")] == [
        r"left out: a\nb.py has unprintable characters in its name",
        "left out: latin.py line 1 is not UTF-8: save the file as UTF-8",
        "left out: tit_for_tat.py is the same program as bots/copy.py",
        "left out: repeated.py plays repeated",
        "left out because they play other games: always_rock, always_stag",
    ]
    left_out = tournament.rows("select bot from entrants where program is null order by bot")
    assert len(left_out) == 6


def test_check_shows_the_line_of_each_mistake_and_names_what_it_could_not_check(
    tournament: Any, bots: Any
) -> None:
    folder = bots(
        "tit_for_tat",
        broken="def act(view):\n    return 'C'\n\ndef\n",
        late="def act(view):\n    if len(view.mine) == 7:\n        return view.nothing\n    return 'C'\n",
        misspelt='"""x\n\nPlays: prisoner_dilemma\n"""\ndef act(view):\n    return "C"\n',
        nowhere='"""x\n\nPlays: zero-sum\n"""\ndef act(view):\n    return "C"\n',
        empty="",
        crlf="def act(view):\r\n    return 'C'\r\n",
        forever="def act(view):\n    while True:\n        pass\n",
        greedy="def act(view):\n    return [0] * 10**9\n",
    )
    (folder / "bom.py").write_bytes(b"\xef\xbb\xbfdef act(view):\n    return 'D'\n")
    (folder / "utf16.py").write_bytes("def act(view): ...".encode("utf-16"))
    (folder / "twin.py").write_bytes((folder / "late.py").read_bytes())
    done = tournament("check", "bots", "--fuel", 10**8, code=1)
    result = {
        Path(file).stem: rest
        for file, rest in re.findall(r"^(bots/\w+\.py): (.*(?:\n +.*)*)", done.out, re.MULTILINE)
    }
    assert set(result) == {file.stem for file in folder.iterdir()}
    assert {name for name, rest in result.items() if rest.startswith("ok (")} == {
        "bom",
        "crlf",
        "tit_for_tat",
    }
    for name, words in {
        "broken": ["load while loading: SyntaxError", 'File "bot.py", line 4'],
        "late": ["20 rounds: late: error in round 8: AttributeError", "line 3, in act"],
        "twin": ["20 rounds: twin: error in round 8: AttributeError", "line 3, in act"],
        "misspelt": ["no game called 'prisoner_dilemma'; did you mean: prisoners_dilemma"],
        "nowhere": ["Plays: zero-sum", "--game"],
        "empty": ["load while loading: NameError", "neither a function act(view) nor a class Bot"],
        "utf16": ["line 1 is not UTF-8"],
        "forever": ["fuel in round 1"],
        "greedy": ["memory in round 1"],
    }.items():
        for word in words:
            assert word in result[name]
    rows = tournament("check", "bots", "--fuel", 10**8, "--json", code=1).json
    assert {Path(row["file"]).stem: row["ok"] for row in rows} == {
        name: rest.startswith("ok (") for name, rest in result.items()
    }


def test_check_accepts_a_bot_for_a_game_of_your_own_only_with_that_game(
    tournament: Any, bots: Any
) -> None:
    write_toy(tournament.folder / "toy.py")
    folder = bots(mine='"""x\n\nPlays: toy\n"""\ndef act(view):\n    return "left"\n')
    assert ": ok (" in tournament("check", folder / "mine.py", "--game", "toy.py").out
    assert "no game called 'toy'" in tournament("check", folder / "mine.py", code=1).out


def write_toy(file: Path, pay: int = 1) -> None:
    """Write a game that is not in the package, and that pays both seats for equal moves."""
    file.write_text(
        f"""
from tournament.game import MatrixGame, common_payoff_game

def game(*, pay: float = {pay}) -> MatrixGame:
    return common_payoff_game("toy", ("left", "right"), [[pay, 0], [0, {pay}]], {{"pay": pay}})
"""
    )


def test_a_match_of_a_game_of_your_own_is_replayed_only_with_its_unchanged_file(
    tournament: Any, bots: Any
) -> None:
    bots("random")
    write_toy(tournament.folder / "toy.py")
    run = ("run", "--pop", "bots", "--game", "toy.py", "--set", "pay=2.5", "--db", "record.duckdb")
    tournament(*run, "--reps", 1)
    replay = ("replay", 1, "--db", "record.duckdb")
    [told] = tournament(*replay, code=2).lines
    assert "the recorded game toy does not come with the engine" in told
    assert "name its file with --game" in told
    assert "identical" in tournament(*replay, "--game", "toy.py").out
    write_toy(tournament.folder / "toy.py", pay=7)
    assert (
        "not the game that was recorded" in tournament(*replay, "--game", "toy.py", code=2).lines[0]
    )


def replayed(path: Path, match: int) -> Replay:
    with Record.read(path) as record:
        return replay(record.outcome(match), None, lambda text: None)


def test_matches_with_noise_and_with_faults_are_replayed_identically(recorded_runs: Any) -> None:
    sample = recorded_runs.rows(
        """
        (select match from matches join faults using (match) where run = 2 order by hash(match) limit 2)
        union all
        (select match from matches where run = 2 and match not in (select match from faults)
            order by hash(match) limit 4)
        """
    )
    assert len(sample) == 6
    for (match,) in sample:
        again = replayed(recorded_runs.folder / "record.duckdb", match)
        assert again.identical
        assert again.same_image
    done = recorded_runs("replay", match, "--db", "record.duckdb")
    assert re.fullmatch(rf"match {match} \(\w+ v \w+\): identical\n", done.out)


CHANGES = (
    "update seats set moves = list_transform(moves, lambda move: 1 - move)",
    "update seats set intended = list_transform(intended, lambda move: 1 - move)",
    "update seats set payoff = coalesce(payoff, 0) + 1",
    "delete from faults",
    "update faults set round = round + 1",
    "update faults set kind = 'fuel'",
    "update matches set rounds = rounds + 1",
)


def test_a_match_whose_record_was_changed_is_replayed_as_different(
    recorded_runs: Any, tournament: Any
) -> None:
    faulted = recorded_runs.rows(
        "select distinct match from faults join matches using (match) where run = 2"
    )
    copy = tournament.folder / "record.duckdb"
    copy.write_bytes((recorded_runs.folder / "record.duckdb").read_bytes())
    with duckdb.connect(copy) as connection:
        for [match], change in zip(faulted, CHANGES, strict=False):
            connection.execute(f"{change} where match = {match}")
    for [match], _ in zip(faulted, CHANGES, strict=False):
        assert not replayed(copy, match).identical
    assert "DIFFERENT; now:" in tournament("replay", match, "--db", copy, code=1).out
    result = tournament("replay", match, "--db", copy, "--json", code=1).json
    assert (result["match"], result["identical"]) == (match, False)


def test_records_made_in_different_ways_have_the_same_digest(tournament: Any, bots: Any) -> None:
    names = ("tit_for_tat", "random", "joss", "grim")
    bots(*names)
    for name in reversed(names):  # so that the file system may list them in another order
        bots(name, folder="elsewhere")
    (tournament.folder / "elsewhere" / "joss.py").rename(tournament.folder / "elsewhere" / "a.py")
    run = ("run", "--rounds", 20, "--noise", 0.05)
    tournament(*run, "--pop", "bots", "--reps", 3, "--workers", 1, "--db", "1.duckdb")
    tournament(*run, "--pop", "bots", "--reps", 3, "--workers", 3, "--strict", "--db", "2.duckdb")
    tournament(
        *run, "--pop", "elsewhere/a.py", "--pop", "bots/grim.py", "--reps", 2, "--db", "3.duckdb"
    )
    tournament(*run, "--pop", "elsewhere", "--reps", 3, "--workers", 2, "--db", "3.duckdb")
    assert len({tournament.digest(f"{number}.duckdb") for number in (1, 2, 3)}) == 1
    every = """
        select list(digest order by seat) as lineup, repetition, rounds, list(seats.moves order by seat) as moves,
            list(payoff order by seat) as payoffs
        from matches join seats using (match) join programs using (program)
        group by match, repetition, rounds order by all
    """
    tables = [tournament.rows(every, f"{number}.duckdb") for number in (1, 2, 3)]
    assert tables[0] == tables[1] == tables[2]
    assert len(tables[0]) == 30


def test_matches_of_a_bot_before_it_was_edited_stay_recorded_but_do_not_count(
    tournament: Any, bots: Any
) -> None:
    folder = bots("tit_for_tat", "always_defect")
    run = ("run", "--pop", "bots", "--reps", 2, "--db", "record.duckdb", "--json")
    tournament(*run)
    (folder / "always_defect.py").write_text("def act(view):\n    return 'C'\n")
    standings = tournament(*run).json
    assert [(row["bot"], row["score"], row["matches"]) for row in standings] == [
        ("always_defect", 3, 4),
        ("tit_for_tat", 3, 4),
    ]
    assert tournament.rows("select count(*) from matches") == [(10,)]


def test_odd_names_of_bots_and_files_are_kept_whole(tournament: Any, bots: Any) -> None:
    names = [
        "[bold]red",
        ":smile:",
        "na'me $x; --rm",
        "日本語",
        'naïve,"x"',
        "{braces}%s",
        "a" * 100,
    ]
    folder = bots(
        **{name: f"def act(view):\n    return 'C'  # {n}\n" for n, name in enumerate(names)}
    )
    odd = folder.rename(tournament.folder / "odd é folder")
    db = "odd é folder/ré sult.duckdb"
    run = ("run", "--pop", odd.name, "--reps", 1, "--db", db)
    out = tournament(*run).out
    assert all(name in out for name in names)
    standings = tournament("leaderboard", "--db", db, "--json").json
    assert {row["bot"] for row in standings} == set(names)
    listed = tournament("list", "bots", "--pop", odd.name, "--json").json
    assert {row["bot"] for row in listed} == set(names)
    out = tournament("matrix", "--db", db).out
    assert all(name in out for name in names)


def test_importing_the_package_does_not_import_heavy_libraries() -> None:
    heavy = ("duckdb", "openai", "aiohttp", "typer", "wasmtime", "numpy", "rich", "anyio")
    for module, allowed in {"tournament": (), "tournament.cli": ("typer", "rich")}.items():
        script = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
        )
        loaded = set(json.loads(done.stdout.replace("'", '"')))
        assert loaded <= set(allowed), module


def test_a_run_of_the_modal_bots_records_the_published_matrix(tournament: Any) -> None:
    files = [BOTS / f"{name}.py" for name in NAMES.values()]
    words = [word for file in files for word in ("--pop", file)]
    tournament("run", *words, "--game", "prisoners_dilemma", "--reps", 2, "--db", "modal.duckdb")
    query = """
        select list(name order by seat) as bots, list(moves[1] order by seat) as moves
        from seats join programs using (program) group by match
    """
    rows = tournament("sql", query, "--db", "modal.duckdb", "--json").json
    found = {tuple(row["bots"]): "".join("CD"[move] for move in row["moves"]) for row in rows}
    assert found == published_matrix()
