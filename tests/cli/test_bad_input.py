"""A request that cannot be carried out is refused in one clear line, and the record stays as it was."""

import hashlib
import os
import resource
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

PLAY = "play tit_for_tat always_defect"
RUN = "run --pop bots --db record.duckdb"
DB = "--db record.duckdb"


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"{PLAY} --set reward=inf", "prisoners_dilemma: reward is inf"),
        (f"{PLAY} --set reward=nan", "prisoners_dilemma: reward is nan"),
        (f"{PLAY} --set reward=", "reward is '', but must be a number"),
        (f"{PLAY} --set reward=3,5", "reward is '3,5', but must be a number"),
        (f"{PLAY} --set reward=6", "temptation is 5, but must be greater than reward (6)"),
        (f"{PLAY} --set prize=3", "prize is not a parameter of this game; there are: reward"),
        (f"{PLAY} --set reward", "--set 'reward' has no value: write --set NAME=VALUE"),
        (f"{PLAY} --rounds 0", "rounds is 0, but must be a whole number from 1"),
        (f"{PLAY} --rounds -1", "rounds is -1"),
        (f"{PLAY} --rounds 100001", "must be a whole number from 1 to 100,000"),
        (f"{PLAY} --continue 1", "continuation is 1, but must be from 0 to below 1"),
        (f"{PLAY} --continue nan", "continuation is nan"),
        (f"{PLAY} --rounds 3 --continue 0.5", "rounds or continuation must be set, but not both"),
        (f"{PLAY} --noise 1.1", "noise is 1.1, but must be from 0 to 1"),
        (f"{PLAY} --discount 1.5", "discount is 1.5, but must be from 0 to 1"),
        (f"{PLAY} --fuel -1", "--fuel is -1, but must be from 5,000,000"),
        (f"{PLAY} --fuel 99999999999999999999", "--fuel is 99,999,999,999,999,999,999"),
        (f"{PLAY} --game prisoner_dilemma", "did you mean: prisoners_dilemma"),
        (f"{PLAY} --game missing.py", "no game called 'missing.py'; there are: battle_of"),
        (f"{PLAY} --game bots/tit_for_tat.py", "has no function game(...)"),
        (
            "play tit_for_tat always_defekt",
            "no bot called 'always_defekt'; did you mean: always_defect",
        ),
        ("play tit_for_tat", "prisoners_dilemma needs 2 bots, one for each seat, not 1"),
        (
            "play random random --game public_goods",
            "public_goods needs 3 bots, one for each seat, not 2",
        ),
        ("run --pop missing", "missing: there is no such file or folder"),
        ("run --pop empty", "empty: has no bots"),
        ("run --pop latin.py", "latin.py: line 1 is not UTF-8"),
        (
            "run --pop bots/tit_for_tat.py --game rock_paper_scissors",
            "none of the bots plays rock_paper_scissors",
        ),
        ("run --pop bots --db empty", "empty is a folder: name a file in it"),
        ("leaderboard --db missing.duckdb", "make one with `tournament run"),
        (f"leaderboard {DB} --run 99", "no run called '99'; there are: 1, 2"),
        (f"replay {DB} 9999", "no match called '9999'"),
        (f"replay {DB} 99999999999999999999", "no match called '99999999999999999999'"),
        (f"replay {DB} 1 --game missing.py", "no game called 'missing.py'"),
        (f"replay {DB} 1 --game chicken", "chicken is not the game that was recorded"),
        (f"sql {DB} selec", 'syntax error at or near "selec"'),
        ("list players", "'players' cannot be listed: choose games, bots or runs"),
        ("check missing.py", "missing.py: there is no such file or folder"),
        ("check bots --game nothing", "no game called 'nothing'"),
    ],
)
def test_a_request_that_cannot_be_carried_out_is_refused_in_one_line(
    recorded_runs: Any, words: str, message: str
) -> None:
    (recorded_runs.folder / "empty").mkdir(exist_ok=True)
    (recorded_runs.folder / "latin.py").write_bytes(b"# \xe9\n")
    before = sha(recorded_runs.folder / "record.duckdb")
    try:
        done = recorded_runs(*words.split(), code=2)
    finally:
        (recorded_runs.folder / "empty").rmdir()
        (recorded_runs.folder / "latin.py").unlink()
    assert done.out == ""
    assert len(done.lines) == 1
    assert done.err.startswith("tournament: ")
    assert message in done.err
    assert sha(recorded_runs.folder / "record.duckdb") == before
    assert {path.name for path in recorded_runs.folder.iterdir()} == {
        "bots",
        "record.duckdb",
        "record.duckdb.lock",
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nonsense", "No such command 'nonsense'"),
        (f"{PLAY} --nonsense", "No such option: --nonsense"),
        (f"{PLAY} --rounds 1.5", "Invalid value for '--rounds'"),
        (f"{PLAY} --seed one", "Invalid value for '--seed'"),
        (f"{PLAY} --repetition -1", "Invalid value for '--repetition'"),
        (f"{RUN} --workers 0", "Invalid value for '--workers'"),
        (f"{RUN} --reps 0", "Invalid value for '--reps'"),
        ("replay", "Missing argument 'MATCH'"),
        (f"{RUN} --reps", "Option '--reps' requires an argument"),
    ],
)
def test_an_unknown_option_or_a_wrong_value_is_refused_in_one_line(
    recorded_runs: Any, words: str, message: str
) -> None:
    done = recorded_runs(*words.split(), code=2)
    assert done.out == ""
    [line] = done.lines
    assert line.startswith(f"tournament: {message}")
    command = f"tournament {words.split()[0]}" if "command" not in message else "tournament"
    assert line.endswith(f"{command} --help`")


def test_an_option_without_a_value_is_reported_for_the_command_not_for_the_first_word(
    recorded_runs: Any,
) -> None:
    [line] = recorded_runs("--", "run", "--reps", code=2).lines
    assert line.endswith("see `tournament run --help`")


@pytest.mark.parametrize(
    ("command", "content"),
    [
        ("run --pop bots", b"nonsense"),
        ("run --pop bots", b"PK\x03\x04" + b"x" * 5000),
        ("leaderboard", b"# notes\n" * 1000),
    ],
)
def test_a_file_that_is_not_a_record_is_refused_and_not_changed(
    tournament: Any, bots: Any, command: str, content: bytes
) -> None:
    bots("tit_for_tat")
    (tournament.folder / "garbage").write_bytes(content)
    done = tournament(*command.split(), "--db", "garbage", code=2)
    assert len(done.lines) == 1
    assert "not a record: name another file with --db" in done.err
    assert (tournament.folder / "garbage").read_bytes() == content


@pytest.mark.parametrize(
    "target", ["/proc/record.duckdb", "/dev/null", "bots/tit_for_tat.py/record.duckdb"]
)
def test_a_path_where_no_file_can_be_made_is_refused_in_one_line(
    tournament: Any, bots: Any, target: str
) -> None:
    bots("tit_for_tat")
    done = tournament("run", "--pop", "bots", "--reps", 1, "--db", target, code=1)
    assert len(done.lines) == 1
    assert target in done.err


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tournament: Any, bots: Any) -> None:
    bots("tit_for_tat")
    target = tournament.folder / "closed"
    target.mkdir(0o555)
    command = [
        *tournament.command,
        "run",
        "--pop",
        "bots",
        "--reps",
        "1",
        "--db",
        "closed/record.duckdb",
    ]
    if os.geteuid() == 0:  # root may write everywhere until it gives up that power
        command = ["setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-all", *command]
        if subprocess.run([*command[:5], "true"], capture_output=True, check=False).returncode:
            pytest.skip("cannot give up the power to write everywhere")
    done = subprocess.run(
        command, cwd=tournament.folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "ermission denied" in done.stderr


def test_a_cache_folder_that_cannot_be_made_is_reported_in_one_line(
    tournament: Any, bots: Any
) -> None:
    bots("tit_for_tat")
    nowhere = {"TOURNAMENT_CACHE": "/proc/nowhere"}
    for words in ("run --pop bots --reps 1", "check bots"):
        done = tournament(*words.split(), code=1, environment=nowhere)
        assert "set TOURNAMENT_CACHE to a folder of your own" in done.lines[-1]
    assert tournament("leaderboard", "--db", "results/tournament.duckdb", code=2).lines == [
        "tournament: this record has no runs yet: see `tournament run --help`"
    ]


def test_a_damaged_image_is_reported_in_one_line(
    tournament: Any, bots: Any, image: Any, tmp_path: Path
) -> None:
    bots("tit_for_tat")
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / image.compiled.name).write_bytes(image.compiled.read_bytes()[:10_000])
    for component in image.compiled.parent.glob("bot-*.wasm"):
        (cache / component.name).symlink_to(component)
    damaged = {"TOURNAMENT_CACHE": str(cache)}
    done = tournament("run", "--pop", "bots", "--reps", 1, code=1, environment=damaged)
    assert "a worker process did not start" in done.lines[-1]
    assert "does not fit this machine: remove it" in done.lines[-1]


def test_a_full_disk_is_reported_in_one_line_and_recorded_matches_stay(
    tournament: Any, bots: Any
) -> None:
    bots("random", "tit_for_tat")
    run = ("run", "--pop", "bots", "--rounds", 2000, "--db", "record.duckdb")
    tournament(*run, "--reps", 1)
    refused = tournament(*run, "--reps", 10**9, code=2)
    assert "at most 1,000,000 matches are played" in refused.lines[0]

    def limit_file_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    before = tournament.digest()
    done = tournament(*run, "--reps", 60, code=1, preexec_fn=limit_file_size)
    assert "record.duckdb" in done.lines[-1]
    [[kept]] = tournament.rows("select count(*) from matches where repetition = 0")
    assert kept == 3
    if tournament.rows("select count(*) from matches") == [(kept,)]:
        assert tournament.digest() == before


def test_text_that_is_not_unicode_is_refused_in_one_line(recorded_runs: Any) -> None:
    odd = b"\xff".decode("utf-8", "surrogateescape")
    for words in (
        ("sql", odd, "--db", "record.duckdb"),
        ("play", odd, "tit_for_tat"),
        ("run", "--pop", "bots", "--set", f"{odd}=1"),
        ("run", "--pop", "bots", "--db", f"{odd}.duckdb"),
    ):
        assert len(recorded_runs(*words, code=2).lines) == 1
