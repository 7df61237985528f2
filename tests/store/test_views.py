"""The views agree with numbers worked out by hand, and with the same sums done in Python."""

import csv
import io
import itertools
import math
import random
import statistics
from collections import Counter, defaultdict
from typing import Any

import pytest

from tournament.errors import UsageError
from tournament.match import Fault, Outcome
from tournament.store import Record

STANDING = "rank, bot, score, error, matches, faults, unscored"


def test_the_views_of_three_bots_agree_with_sums_worked_out_by_hand(session_of: Any) -> None:
    """Tit for tat, always cooperate and always defect play 4 rounds of the prisoner's dilemma (5 3 1 0), twice."""
    table = session_of("tft allc alld")
    for repetition in (0, 1):
        for lineup, moves, payoffs in (
            ("tft tft", ("0000", "0000"), (12, 12)),
            ("tft allc", ("0000", "0000"), (12, 12)),
            ("tft alld", ("0111", "1111"), (3, 8)),
            ("allc allc", ("0000", "0000"), (12, 12)),
            ("allc alld", ("0000", "1111"), (0, 20)),
            ("alld alld", ("1111", "1111"), (4, 4)),
        ):
            table.play(lineup, payoffs, moves, repetition=repetition)
    assert table.rows("leaderboard", STANDING) == [
        (1, "alld", round((2 + 5 + 1) / 3, 9), 0.0, 6, 0, 0),
        (2, "tft", round((3 + 3 + 0.75) / 3, 9), 0.0, 6, 0, 0),
        (3, "allc", 2.0, 0.0, 6, 0, 0),
    ]
    assert table.rows("payoff_matrix", "bot, opponent, payoff, error, matches") == [
        ("allc", "allc", 3.0, 0.0, 2),
        ("allc", "alld", 0.0, 0.0, 2),
        ("allc", "tft", 3.0, 0.0, 2),
        ("alld", "allc", 5.0, 0.0, 2),
        ("alld", "alld", 1.0, 0.0, 2),
        ("alld", "tft", 2.0, 0.0, 2),
        ("tft", "allc", 3.0, 0.0, 2),
        ("tft", "alld", 0.75, 0.0, 2),
        ("tft", "tft", 3.0, 0.0, 2),
    ]
    assert table.rows("head_to_head", "bot, opponent, matches, wins, draws, losses") == [
        ("allc", "alld", 2, 0, 0, 2),
        ("allc", "tft", 2, 0, 2, 0),
        ("alld", "allc", 2, 2, 0, 0),
        ("alld", "tft", 2, 2, 0, 0),
        ("tft", "allc", 2, 0, 2, 0),
        ("tft", "alld", 2, 0, 0, 2),
    ]
    assert table.rows("cooperation", "bot, move, share") == [
        ("allc", "C", 1.0),
        ("allc", "D", 0.0),
        ("alld", "C", 0.0),
        ("alld", "D", 1.0),
        ("tft", "C", 26 / 32),
        ("tft", "D", 6 / 32),
    ]


def test_the_error_is_of_the_mean_over_repetitions_and_opponents(session_of: Any) -> None:
    table = session_of("a b", rounds=1)
    for repetition, (own, other) in enumerate([(0, 6), (2, 6), (4, 6)]):
        table.play("a b", (own, other), repetition=repetition)
        table.play("a a", (1, 3), repetition=repetition)
    variance = statistics.variance([0, 2, 4]) / 3
    assert table.rows("leaderboard", "bot, score, error") == [
        ("b", 6.0, 0.0),
        ("a", 2.0, round(1.96 * math.sqrt(variance) / 2, 9)),
    ]


def test_bots_with_equal_scores_share_a_rank(session_of: Any) -> None:
    table = session_of("d c b a", rounds=3)
    pairs = itertools.combinations("abcd", 2)
    for one, other in pairs:
        payoff = 1 if one != "a" else 2
        table.play(f"{one} {other}", (payoff, 1))
    assert table.rows("leaderboard", "rank, bot") == [(1, "a"), (2, "b"), (2, "c"), (2, "d")]


def test_equal_scores_tie_even_if_they_were_summed_in_another_order(session_of: Any) -> None:
    table = session_of("a b x y z", rounds=3)
    for one, other in zip("xyz", "zyx", strict=True):
        payoff = {"x": 0.1, "y": 0.2, "z": 0.3}
        table.play(f"a {one}", (payoff[one], 0))
        table.play(f"b {other}", (payoff[other], 0))
    assert table.rows("leaderboard", "rank, bot", "rank = 1") == [(1, "a"), (1, "b")]


def test_a_single_match_gives_a_score_without_an_error(session_of: Any) -> None:
    table = session_of("a b", rounds=2)
    table.play("a b", (4, 1))
    assert table.rows("leaderboard", STANDING) == [
        (1, "a", 2.0, None, 1, 0, 0),
        (2, "b", 0.5, None, 1, 0, 0),
    ]


def test_one_repetition_of_one_pair_leaves_the_error_unknown(session_of: Any) -> None:
    table = session_of("a b", rounds=1)
    table.play("a b", (4, 1))
    for repetition in (0, 1):
        table.play("a a", (1, 1), repetition=repetition)
    assert table.rows("leaderboard", "bot, error") == [("a", None), ("b", None)]
    assert table.rows("payoff_matrix", "error", "opponent = 'a' and bot = 'a'") == [(0.0,)]


def test_every_bot_is_listed_before_any_match(session_of: Any) -> None:
    table = session_of("b a")
    assert table.rows("leaderboard", STANDING) == [
        (1, "a", None, None, 0, 0, 0),
        (1, "b", None, None, 0, 0, 0),
    ]
    for view in ("payoff_matrix", "head_to_head", "moves", "fault_counts"):
        assert table.rows(view) == []


def test_a_fault_counts_only_for_the_seat_that_broke_the_rule(session_of: Any) -> None:
    table = session_of("good bad", rounds=2)
    broken_rule = Fault(1, "error", 0, "ValueError: no")
    for repetition in (0, 1):
        table.play("good bad", (None, 0), ("", ""), [broken_rule], repetition=repetition)
        table.play("good good", (4, 4), ("00", "00"), repetition=repetition)
        table.play(
            "bad bad", (0, None), ("1", "1"), [Fault(0, "fuel", 1, "")], repetition=repetition
        )
    assert table.rows("leaderboard", STANDING) == [
        (1, "good", 2.0, 0.0, 4, 0, 2),
        (2, "bad", 0.0, 0.0, 4, 4, 0),
    ]
    assert table.rows("fault_counts", "bot, kind, count, match, example") == [
        ("bad", "error", 2, 1, "ValueError: no"),
        ("bad", "fuel", 2, 3, ""),
    ]
    assert table.rows("payoff_matrix", "bot, opponent, matches") == [
        ("bad", "bad", 2),
        ("bad", "good", 2),
        ("good", "good", 2),
    ]
    assert table.rows("head_to_head") == []


def test_bots_without_a_scored_match_are_last_and_have_no_score(session_of: Any) -> None:
    table = session_of("victim vandal", rounds=2)
    table.play("victim vandal", (None, -8), faults=[Fault(1, "load", 0, "SyntaxError")])
    assert table.rows("leaderboard", STANDING) == [
        (1, "vandal", -4.0, None, 1, 1, 0),
        (2, "victim", None, None, 1, 0, 1),
    ]


def test_an_edited_bot_leaves_the_standings_but_its_matches_stay(session_of: Any) -> None:
    before = session_of("a b old")
    before.play("a b", (4, 8))
    before.play("a old", (400, 0), ("0000", "1111"))
    after = session_of("a b new")
    after.play("a new", (12, 4))
    assert after.run == before.run
    assert after.rows("leaderboard", "bot, score, matches") == [
        ("a", 2.0, 2),
        ("b", 2.0, 1),
        ("new", 1.0, 1),
    ]
    assert ("a", "old") not in after.rows("payoff_matrix", "bot, opponent")
    assert len(after.rows("matches")) == 3
    assert sorted(after.rows("moves", "bot", "match = 2 and round = 0")) == [("a",), ("old",)]


def test_a_renamed_bot_is_shown_under_its_latest_name(record: Record, session_of: Any) -> None:
    table = session_of("a b")
    table.play("a b", (4, 8), ("0000", "1111"))
    record.begin_session(table.run, {}, [(table.bots["a"], "z"), (table.bots["b"], "b")])
    assert table.rows("leaderboard", "bot") == [("b",), ("z",)]
    assert table.rows("moves", "distinct bot", "seat = 0") == [("a",)]


def test_files_with_one_source_are_one_bot(record: Record, session_of: Any) -> None:
    table = session_of("a b")
    record.begin_session(table.run, {}, [(table.bots["a"], name) for name in ("y", "x")])
    assert table.rows("leaderboard", "bot") == [("x = y",)]


def test_runs_do_not_mix(session_of: Any) -> None:
    one, two = session_of("a b", key="one"), session_of("a b", key="two")
    one.play("a b", (4, 8))
    two.play("a b", (8, 4))
    assert one.rows("leaderboard", "bot, score") == [("b", 2.0), ("a", 1.0)]
    assert two.rows("leaderboard", "bot, score") == [("a", 2.0), ("b", 1.0)]


@pytest.mark.parametrize(("discount", "weight"), [(0.5, 1.875), (0.0, 1.0), (1.0, 4.0)])
def test_with_a_discount_the_score_is_the_weighted_mean_of_the_rounds(
    session_of: Any, discount: float, weight: float
) -> None:
    table = session_of("a b", config={"repetition": {"discount": discount}})
    table.play("a b", (3 * weight, weight))
    assert table.rows("leaderboard", "bot, score") == [("a", 3.0), ("b", 1.0)]


def test_a_difference_between_seats_is_averaged_and_does_not_count_as_error(
    session_of: Any,
) -> None:
    table = session_of("a b", rounds=1)
    for repetition in (0, 1):
        table.play("a b", (10, 0), repetition=repetition)
        table.play("b a", (4, 2), repetition=repetition)
    assert table.rows("leaderboard", "bot, score, error") == [("a", 6.0, 0.0), ("b", 2.0, 0.0)]


def test_with_more_than_two_seats_the_opponents_are_named_together(session_of: Any) -> None:
    table = session_of("a b c", rounds=1, moves=[["x", "y"]] * 3)
    table.play("a b c", (1, 2, 3), ("0", "1", "1"))
    table.play("c b a", (5, 2, 3), ("1", "1", "0"))
    table.play("a a b", (7, 9, 0), ("0", "0", "1"))
    assert table.rows("payoff_matrix", "bot, opponent, payoff, matches") == [
        ("a", "a, b", 8.0, 1),
        ("a", "b, c", 2.0, 2),
        ("b", "a, a", 0.0, 1),
        ("b", "a, c", 2.0, 2),
        ("c", "a, b", 4.0, 2),
    ]


def test_the_view_moves_shows_every_move_as_text(session_of: Any) -> None:
    table = session_of("a b", moves=[["swerve", "go"], [1, 2, 3]], rounds=3)
    table.play("a b", (1, 2), ("01", "20"), intended=("11", "20"))
    assert sorted(table.rows("moves", "match, round, seat, bot, move, intended")) == [
        (1, 0, 0, "a", "swerve", "go"),
        (1, 0, 1, "b", "3", "3"),
        (1, 1, 0, "a", "go", "go"),
        (1, 1, 1, "b", "1", "1"),
    ]


def rounded(value: float | None) -> float | None:
    return value if value is None else round(value, 6)


def standings(outcomes: list[Outcome], names: dict[str, str]) -> dict[str, tuple[Any, ...]]:
    """Return score, error, matches, faults and unscored matches of each bot, computed from their definitions."""
    results: dict[str, dict[Any, dict[Any, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    counts = {name: Counter[str]() for name in names.values()}
    for outcome in outcomes:
        lineup = [names[digest] for digest in outcome.fixture.lineup]
        at_fault = {lineup[fault.seat] for fault in outcome.faults}
        for name in set(lineup):
            seats = [seat for seat, other in enumerate(lineup) if other == name]
            paid = [p for seat in seats if (p := outcome.payoffs[seat]) is not None]
            counts[name] += Counter(matches=1, faults=name in at_fault, unscored=not paid)
            others = sorted(lineup)
            others.remove(name)
            if paid:
                mean = statistics.fmean(paid) / outcome.rounds
                results[name][tuple(others)][tuple(lineup)].append(mean)
    return {
        name: (
            *scored(results[name]),
            *(counts[name][key] for key in ("matches", "faults", "unscored")),
        )
        for name in names.values()
    }


def scored(results: dict[Any, dict[Any, list[float]]]) -> tuple[float | None, float | None]:
    """Return the score and the error of a bot from its payoffs against each opponent, by lineup."""
    if not results:
        return None, None
    opponents = [list(lineups.values()) for lineups in results.values()]
    means = [statistics.fmean(map(statistics.fmean, lineups)) for lineups in opponents]
    if any(len(values) == 1 for lineups in opponents for values in lineups):
        return rounded(statistics.fmean(means)), None
    variances = [
        sum(statistics.variance(values) / len(values) for values in lineups) / len(lineups) ** 2
        for lineups in opponents
    ]
    error = 1.96 * math.sqrt(sum(variances)) / len(variances)
    return rounded(statistics.fmean(means)), rounded(error)


@pytest.mark.parametrize("seed", range(24))
def test_the_leaderboard_agrees_with_its_definition(
    long_record: Record, session_in: Any, seed: int
) -> None:
    chance = random.Random(seed)
    seats = chance.choice([2, 2, 3])
    table = session_in(long_record, "a b c", key=str(seed), moves=[["C", "D"]] * seats)
    outcomes: list[Outcome] = []
    for repetition in range(chance.randint(1, 60)):
        lineup = " ".join(chance.choices("abc", k=seats))
        payoffs: list[float | None] = [chance.randint(-3, 3) for _ in range(seats)]
        faults = []
        if chance.random() < 0.2:
            seat = chance.randrange(seats)
            faults = [Fault(seat, "error", 0, "")]
            payoffs = [-3 if each == seat else None for each in range(seats)]
        outcomes.append(table.outcome(lineup, payoffs, faults=faults, repetition=repetition))
    long_record.append(table.number, outcomes)
    names = {program.digest: name for name, program in table.bots.items()}
    expected = standings(outcomes, names)
    shown = {
        bot: (rounded(score), rounded(error), *counts)
        for _, bot, score, error, *counts in table.rows("leaderboard", STANDING)
    }
    assert shown == expected
    ranks = [rank for (rank,) in table.rows("leaderboard", "rank")]
    scores = [score for (score,) in table.rows("leaderboard", "score")]
    assert ranks == [1 + scores.index(score) for score in scores]


def test_an_answer_can_be_written_to_a_file_and_read_again(session_of: Any) -> None:
    table = session_of('a"1 b,2')
    table.play('a"1 b,2', (4, None), faults=[Fault(1, "error", 0, 'it\'s "x",\ny')])
    columns, rows = table.record.sql("select bot, kind, example from fault_counts")
    file = io.StringIO(newline="")
    csv.writer(file).writerows([columns, *rows])
    file.seek(0)
    assert [tuple(row) for row in csv.reader(file)] == [tuple(columns), *rows]


@pytest.mark.parametrize(
    "query",
    [
        "select 1",
        "from leaderboard",
        "with x as (select 1) select * from x;",
        "describe matches",
        "show tables",
        "summarize seats",
        "explain select 1",
    ],
)
def test_a_query_that_only_reads_is_answered(long_record: Record, query: str) -> None:
    columns, rows = long_record.sql(query)
    assert all(len(row) == len(columns) for row in rows)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "-- nothing",
        "select 1; select 2",
        "insert into faults values (1, 0, 0, '', '', '', '')",
        "update runs set seed = '1'",
        "delete from matches",
        "create table x (i integer)",
        "create temp table x (i integer)",
        "drop table matches",
        "drop view leaderboard",
        "copy matches to 'x.csv'",
        "copy (select 1) to 'record.duckdb'",
        "export database 'x'",
        "attach ':memory:' as x",
        "detach record",
        "checkpoint",
        "set memory_limit = '10GB'",
        "set enable_external_access = true",
        "begin",
        "commit",
        "load httpfs",
        "explain analyze insert into leaks values (1, 1)",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('*')",
        "select * from read_text('record.duckdb')",
        "select * from query",
        "selec 1",
        "select nothing from matches",
        "select 1 / 'x'",
    ],
)
def test_a_query_that_may_do_more_is_refused_in_one_line(long_record: Record, query: str) -> None:
    count = "select (select count(*) from leaks), (select count(*) from duckdb_tables())"
    before = long_record.sql(count)
    with pytest.raises(UsageError) as raised:
        long_record.sql(query)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) > 10
    assert long_record.sql(count) == before
    assert {file.suffix for file in long_record.path.parent.iterdir()} <= {
        ".duckdb",
        ".lock",
        ".wal",
    }
