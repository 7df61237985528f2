"""What comes of a tournament does not depend on how, where and in what company it is played."""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from tournament.engine import schedule
from tournament.engine.run import Contest, Results, planned, play_all, workers
from tournament.engine.schedule import round_robin
from tournament.game import MatrixGame, Repetition, Setting
from tournament.library import find_bots, games, load_game
from tournament.match import Fixture, Outcome
from tournament.program import Program
from tournament.runs.resources import PendingPool, Resources, Stop
from tournament.runs.session import (
    Participants,
    Session,
    SessionSettings,
    Summary,
    select_participants,
)
from tournament.runs.single import played_strictly
from tournament.sandbox.image import Image
from tournament.sandbox.limits import Limits
from tournament.sandbox.pool import Pool
from tournament.store import Record

BOTS = {
    "cooperator": "def act(view):\n    return 'C'\n",
    "tit_for_tat": "def act(view):\n    return view.theirs[-1] if view.theirs else 'C'\n",
    "coin": "def act(view):\n    return view.rng.choice(view.legal)\n",
    "public_coin": "def act(view):\n    return view.shared.choice(view.legal)\n",
    "reader": "def act(view):\n    return 'D' if 'rng' in view.them.source else 'C'\n",
    "late_fault": "def act(view):\n    return 'C' if len(view.mine) < 5 else 1 / 0\n",
    "illegal_to_itself": "def act(view):\n    return 'X' if view.them == view.me else 'D'\n",
    "first_seat": "def act(view):\n    return 'CD'[view.seat]\n",
    "secretly_first_seat": "def act(view):\n    return 'CD'[getattr(view, 'se' + 'at')]\n",
    "broken": "def act(view:\n",
    "address": "def act(view):\n    raise ValueError([view, object(), act])\n",
    "counter": """
class Bot:
    def __init__(self):
        self.calls = 0

    def act(self, view):
        self.calls += 1
        return "CD"[self.calls % 3 == 0]
""",
}
LEAKY = """
import json

def act(view):
    json.calls = getattr(json, "calls", 0) + 1
    return "C" if json.calls <= 12 else "D"
"""
GAME = load_game("prisoners_dilemma")
SETTING = Setting(GAME, Repetition(rounds=12))
NOISY = Setting(GAME, Repetition(rounds=None, continuation=0.9, discount=0.9, noise=0.1))

T = TypeVar("T")
Row = tuple[Any, ...]


def programs(sources: dict[str, str]) -> list[Program]:
    return [Program(name, source, f"{name}.py") for name, source in sources.items()]


def contest(
    sources: dict[str, str] = BOTS,
    setting: Setting = SETTING,
    *,
    seed: int = 3,
    strict: bool = False,
) -> Contest:
    by_digest = {program.digest: program for program in programs(sources)}
    return Contest(setting, seed, by_digest, strict=strict)


def play(
    image: Image,
    what: Contest,
    fixtures: Sequence[Fixture],
    *,
    count: int = 1,
    kind: type[Pool] = Pool,
    during: Callable[[Pool], None] = lambda pool: None,
) -> list[Results]:
    """All that comes of the fixtures, in the order in which it comes."""

    async def main() -> list[Results]:
        send, receive = anyio.create_memory_object_stream[Results](4)
        async with (
            workers(image, count, what.limits, [GAME]) as pool,
            anyio.create_task_group() as group,
            receive,
        ):
            pool.__class__ = kind
            plan = planned(what, fixtures, pool.count)
            group.start_soon(play_all, what, plan, pool, send)
            during(pool)
            return [results async for results in receive]

    return anyio.run(main)


def settled(results: Iterable[Results]) -> dict[Fixture, Outcome]:
    """The outcome of every fixture, with those that were played again in their places."""
    outcomes: dict[Fixture, Outcome] = {}
    for each in results:
        fixtures = [outcome.fixture for outcome in each.outcomes]
        assert len(set(fixtures)) == len(fixtures)
        assert each.again or outcomes.keys().isdisjoint(fixtures)
        outcomes |= zip(fixtures, each.outcomes, strict=True)
    return outcomes


def table(outcomes: Iterable[Outcome]) -> list[Row]:
    """All that was played, in an order of its own."""
    return sorted(
        (
            *(each.fixture.lineup, each.fixture.repetition, each.rounds, each.moves),
            *(each.intended, each.payoffs),
            tuple((fault.seat, fault.kind, fault.round) for fault in each.faults),
        )
        for each in outcomes
    )


def digest(folder: Path, what: Contest, outcomes: Sequence[Outcome]) -> str:
    """The digest of a record of these outcomes."""
    with Record.open(folder / "record.duckdb") as record:
        run = record.begin_run("run", what.setting.config, what.seed, what.setting.game.moves)
        entrants = [(program, program.name) for program in what.programs.values()]
        record.append(record.begin_session(run, {}, entrants), outcomes)
        return record.digest(run)


class Way:
    """A way to play the same tournament."""

    def __init__(
        self,
        *,
        count: int = 1,
        strict: bool = False,
        size: int | None = None,
        rename: bool = False,
        reverse: bool = False,
        shuffle: bool = False,
    ) -> None:
        self.count = count
        self.strict = strict
        self.size = size
        self.rename = rename
        self.reverse = reverse
        self.shuffle = shuffle

    def play(
        self, image: Image, setting: Setting, monkeypatch: pytest.MonkeyPatch
    ) -> tuple[Contest, list[Outcome]]:
        """What comes of playing this way."""
        if self.size:
            monkeypatch.setattr(schedule, "MOST_MATCHES", self.size)
        names = sorted(BOTS, reverse=self.reverse)
        what = contest(
            {f"other_{name}" if self.rename else name: BOTS[name] for name in names},
            setting,
            strict=self.strict,
        )
        fixtures = round_robin(setting, list(what.programs), 3)
        if self.shuffle:
            random.Random(1).shuffle(fixtures)
        outcomes = list(settled(play(image, what, fixtures, count=self.count)).values())
        assert not what.leaky
        assert not self.strict or all(all(outcome.checked) for outcome in outcomes)
        return what, outcomes


WAYS = {
    "two_workers": Way(count=2),
    "three_workers_and_small_batches": Way(count=3, size=7),
    "single_matches": Way(count=2, size=1),
    "strictly": Way(strict=True),
    "renamed_bots": Way(rename=True),
    "another_order_of_bots": Way(reverse=True),
    "another_order_of_fixtures": Way(shuffle=True, size=20),
}


@pytest.fixture(scope="module", params=[SETTING, NOISY], ids=["repeated", "noisy"])
def plainly(
    request: pytest.FixtureRequest, image: Image, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Setting, list[Row], str]:
    """A tournament as one worker plays it in one batch: its setting, its rows and its digest."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        what, outcomes = Way().play(image, request.param, monkeypatch)
    return request.param, table(outcomes), digest(tmp_path_factory.mktemp("plain"), what, outcomes)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_to_play_gives_the_same_rows_and_the_same_digest(
    way: Way,
    plainly: tuple[Setting, list[Row], str],
    image: Image,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    setting, rows, expected = plainly
    what, outcomes = way.play(image, setting, monkeypatch)
    assert table(outcomes) == rows
    assert digest(tmp_path, what, outcomes) == expected


def test_the_tournament_above_has_faults_noise_and_chance_in_it(
    plainly: tuple[Setting, list[Row], str],
) -> None:
    setting, rows, _ = plainly
    kinds = {fault[1] for row in rows for fault in row[-1]}
    assert kinds == {"error", "illegal", "load"}
    if setting is NOISY:
        assert any(row[3] != row[4] for row in rows)
        assert len({row[2] for row in rows}) > 5
    moves = {row[:1]: set() for row in rows}
    for row in rows:
        moves[row[:1]].add(row[3])
    assert any(len(different) > 1 for different in moves.values())


def test_another_seed_plays_otherwise(image: Image) -> None:
    def rows(seed: int) -> list[Row]:
        what = contest({"coin": BOTS["coin"]}, seed=seed)
        return table(
            settled(play(image, what, round_robin(SETTING, list(what.programs), 2))).values()
        )

    different = [rows(seed) for seed in (0, 1, -1, 10**40)]
    assert all(one != other for one in different for other in different if one is not other)
    assert rows(10**40) == different[-1]


def test_every_game_is_the_same_for_the_same_seed_and_another_for_another(image: Image) -> None:
    coin = Program("coin", BOTS["coin"])
    settings = [
        Setting(game, Repetition(5 if isinstance(game, MatrixGame) else 1))
        for game in map(load_game, games())
    ]

    async def main(seed: int) -> list[list[Row]]:
        async with workers(image, 1, Limits(), [each.game for each in settings]) as pool:
            return [
                table(
                    await played_strictly(
                        Contest(setting, seed, {coin.digest: coin}),
                        [Fixture((coin.digest,) * setting.game.seats, 0)],
                        pool,
                    )
                )
                for setting in settings
            ]

    first, again, other = (anyio.run(main, seed) for seed in (0, 0, 1))
    assert first == again
    assert all(one != another for one, another in zip(first, other, strict=True))


def test_a_program_that_leaks_between_its_matches_is_played_as_if_it_did_not(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = BOTS | {"leaky": LEAKY}
    strict = contest(sources, strict=True)
    fixtures = round_robin(SETTING, list(strict.programs), 2)
    expected = table(settled(play(image, strict, fixtures)).values())
    monkeypatch.setattr(schedule, "MOST_MATCHES", 9)
    fast = contest(sources)
    assert table(settled(play(image, fast, fixtures, count=2)).values()) == expected
    assert strict.leaky == fast.leaky
    assert [fast.programs[leaky].name for leaky in fast.leaky] == ["leaky"]
    assert all(row[3][0] == 12 * "0" for row in expected if row[0][0] in fast.leaky and not row[-1])


def folder_of(sources: dict[str, str], folder: Path) -> Path:
    folder.mkdir()
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    return folder


def sit(
    record: Record, folder: Path, *, reps: int = 2, count: int = 1, setting: Setting = SETTING
) -> Summary:
    """Hold a session of the bots in a folder."""
    lineup: Participants = select_participants(setting, find_bots([folder]))
    by_digest = {program.digest: program for program in lineup.programs}
    what = Contest(setting, 3, by_digest)

    async def main() -> Summary:
        async with anyio.create_task_group() as group:
            pending_pool = PendingPool([setting.game], what.limits, count, lambda text: None)
            group.start_soon(pending_pool.start)
            session = Session(
                Resources(record, pending_pool, Stop()), SessionSettings(what, lineup, reps)
            )
            summary = await session.play(lambda *_: None)
            group.cancel_scope.cancel()
            return summary

    return anyio.run(main)


def rows_on(record: Record) -> list[tuple[Any, ...]]:
    """Every match on record by the content of its programs."""
    return record.sql(
        """
        select list(digest order by seat), repetition, list(moves order by seat), list(payoff order by seat)
        from matches join seats using (match) join programs using (program)
        group by match, repetition order by all
        """
    )[1]


def test_a_folder_written_in_another_order_gives_the_same_record(tmp_path: Path) -> None:
    names = list(BOTS)
    folders = [
        folder_of({name: BOTS[name] for name in order}, tmp_path / str(number))
        for number, order in enumerate((names, names[::-1]))
    ]
    digests = set()
    for folder in folders:
        with Record.open(tmp_path / f"{folder.name}.duckdb") as record:
            digests.add(record.digest(sit(record, folder).run))
    assert len(digests) == 1


def test_a_late_bot_and_more_repetitions_cost_only_their_own_matches(tmp_path: Path) -> None:
    folder = folder_of(
        {name: BOTS[name] for name in ("coin", "tit_for_tat", "late_fault")}, tmp_path / "bots"
    )
    with Record.open(tmp_path / "record.duckdb") as record:
        first = sit(record, folder, reps=2)
        assert (first.planned, first.before, first.played) == (12, 0, 12)
        before = rows_on(record)

        (folder / "late.py").write_text(BOTS["reader"])
        late = sit(record, folder, reps=2)
        assert (late.run, late.planned, late.before, late.played) == (first.run, 20, 12, 8)
        assert set(map(str, before)) < set(map(str, rows_on(record)))

        more = sit(record, folder, reps=3, count=2)
        assert (more.planned, more.before, more.played) == (30, 20, 10)
        again = sit(record, folder, reps=3)
        assert (again.planned, again.before, again.played) == (30, 30, 0)
        grown = record.digest(first.run)
    with Record.open(tmp_path / "at_once.duckdb") as record:
        assert record.digest(sit(record, folder, reps=3).run) == grown


def test_an_edited_bot_plays_anew_and_leaves_the_standings_but_its_matches_stay(
    tmp_path: Path,
) -> None:
    folder = folder_of({"one": BOTS["coin"], "two": BOTS["tit_for_tat"]}, tmp_path / "bots")
    with Record.open(tmp_path / "record.duckdb") as record:
        sit(record, folder)
        before = rows_on(record)
        (folder / "one.py").write_text(BOTS["cooperator"])
        edited = sit(record, folder)
        assert (edited.planned, edited.before, edited.played) == (6, 2, 4)
        assert record.sql("select bot, matches from leaderboard order by bot")[1] == [
            ("one", 4),
            ("two", 4),
        ]
        after = rows_on(record)
        assert len(after) == 10
        assert [row for row in after if row in before] == before


def test_outcomes_that_were_found_out_too_late_are_played_again_by_the_next_sitting(
    tmp_path: Path,
) -> None:
    """A session that is stopped between finding a leak and playing again leaves such a record."""
    folder = folder_of(
        {"leaky": LEAKY, "coin": BOTS["coin"], "tft": BOTS["tit_for_tat"]}, tmp_path / "bots"
    )
    path = tmp_path / "record.duckdb"
    with Record.open(path) as record:
        summary = sit(record, folder)
        assert len(summary.leaky) == 1
        expected = rows_on(record)
    spoil(
        path,
        """
        update seats set moves = [1], payoff = 0, checked = false
        where match in (select match from matches where repetition = 1) and program in (
            select program from leaks)
        """,
    )
    with Record.open(path) as record:
        assert rows_on(record) != expected
        again = sit(record, folder)
        assert (again.planned, again.before, again.played) == (12, 12, 0)
        assert rows_on(record) == expected
        assert sit(record, folder).leaky == summary.leaky


def spoil(path: Path, query: str) -> None:
    """Change a record behind the engine's back."""
    import duckdb

    with duckdb.connect(path) as connection:
        connection.execute(query)


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(image: Image) -> None:
    what = contest()
    fixtures = round_robin(SETTING, list(what.programs), 2)
    undisturbed = table(settled(play(image, what, fixtures)).values())

    def kill_one(pool: Pool) -> None:
        os.kill(pool._idle[-1].pid, signal.SIGKILL)

    results = play(image, contest(), fixtures, count=2, during=kill_one)
    assert table(settled(results).values()) == undisturbed
    assert not any(each.lost for each in results)


class Fragile(Pool):
    """A pool whose workers die when they are handed a request that has a word in it."""

    word = b"poison"
    deaths = 0

    async def call(self, request: bytes, read: Callable[[bytes], T]) -> T:
        """Hand over a request, to a worker that is about to die if it is poisonous."""
        if self.word in request:
            self.deaths += 1
            if not self._idle:
                await self._add()
            os.kill(self._idle[-1].pid, signal.SIGKILL)
        return await super().call(request, read)


def test_a_bot_that_kills_every_worker_costs_its_own_matches_and_nothing_else(image: Image) -> None:
    sources = {"coin": BOTS["coin"], "poison": "def act(view):\n    return 'poison'\n"}
    what = contest(sources)
    fixtures = round_robin(SETTING, list(what.programs), 1)
    expected = table(
        settled(play(image, what, [f for f in fixtures if len(set(f.lineup)) == 1])).values()
    )
    coin = next(digest for digest, program in what.programs.items() if program.name == "coin")
    results = play(image, what, fixtures, kind=Fragile)
    lost = [fixture for each in results for fixture in each.lost]
    assert len(lost) == len(set(lost)) == 2
    assert {each.fixture.lineup for each in settled(results).values()} == {(coin, coin)}
    assert table(settled(results).values()) == [row for row in expected if row[0] == (coin, coin)]


def test_a_lost_match_is_lost_with_the_repetitions_that_it_stands_for(image: Image) -> None:
    what = contest({"poison": "def act(view):\n    return 'poison'\n"})
    fixtures = round_robin(SETTING, list(what.programs), 3)
    results = play(image, what, fixtures, kind=Fragile)
    assert sorted(fixture for each in results for fixture in each.lost) == fixtures
    assert not settled(results)


DETERMINISTIC = {
    name: BOTS[name] for name in ("cooperator", "tit_for_tat", "late_fault", "counter", "broken")
}


class Weighing(Pool):
    """A pool that counts the matches it is asked to play."""

    matches = 0

    async def call(self, request: bytes, read: Callable[[bytes], T]) -> T:
        """Hand over a batch."""
        self.matches += len(json.loads(request)[4])
        return await super().call(request, read)


@pytest.mark.parametrize(
    ("more", "matches"), [({}, 15), ({"first_seat": BOTS["first_seat"]}, 15 + 2 * 5 + 1)]
)
def test_what_is_the_same_in_every_repetition_and_from_every_seat_is_played_once(
    image: Image, more: dict[str, str], matches: int
) -> None:
    what = contest(DETERMINISTIC | more)
    fixtures = round_robin(SETTING, list(what.programs), 4)
    pools: list[Pool] = []
    results = settled(play(image, what, fixtures, kind=Weighing, during=pools.append))
    assert pools[0].matches == matches
    strictly = settled(play(image, contest(DETERMINISTIC | more, strict=True), fixtures))
    assert table(results.values()) == table(strictly.values())


class Counting(Pool):
    """A pool that counts the answers it has given."""

    answers = 0

    async def call(self, request: bytes, read: Callable[[bytes], T]) -> T:
        """Hand over a request and count its answer."""
        answer = await super().call(request, read)
        self.answers += 1
        return answer


def test_workers_wait_when_nobody_takes_what_they_played(
    image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "MOST_MATCHES", 2)
    what = contest()
    fixtures = round_robin(SETTING, list(what.programs), 1)

    async def main() -> tuple[int, int, int]:
        send, receive = anyio.create_memory_object_stream[Results](1)
        async with (
            workers(image, 2, what.limits, [GAME]) as pool,
            anyio.create_task_group() as group,
            receive,
        ):
            pool.__class__ = Counting
            assert isinstance(pool, Counting)
            plan = planned(what, fixtures, pool.count)
            group.start_soon(play_all, what, plan, pool, send)
            await anyio.sleep(0.5)
            early = pool.answers
            await anyio.sleep(0.5)
            waiting = pool.answers
            received = [results async for results in receive]
            assert len(settled(received)) == len(fixtures)
            return early, waiting, pool.answers

    early, waiting, all_of_them = anyio.run(main)
    assert early == waiting == 3  # one in the stream, and one in the hands of each worker
    assert all_of_them > 20


def test_the_engine_needs_neither_a_record_nor_a_main_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
from tournament.engine.run import Contest
from tournament.engine.schedule import round_robin
from tournament.game import Setting
from tournament.library import load_bot, load_game
from tournament.runs.single import play_strictly
import json, sys

setting = Setting(load_game("prisoners_dilemma"))
bots = [load_bot(name) for name in ("tit_for_tat", "always_defect")]
contest = Contest(setting, 0, {bot.digest: bot for bot in bots})
fixtures = round_robin(setting, [bot.digest for bot in bots], 1)
print(json.dumps([outcome.payoffs for outcome in play_strictly(contest, fixtures, print)]))
assert "duckdb" not in sys.modules
"""
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    payoffs = json.loads(done.stdout.splitlines()[-1])
    assert sorted(map(sorted, payoffs)) == [[0, 5], [1, 1], [3, 3]]
