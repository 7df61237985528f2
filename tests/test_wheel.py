"""The wheel has the whole package and nothing else, and works without a checkout."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import tournament
from tournament.sandbox.image import image_name

CHECKOUT = Path(tournament.__file__).parents[1]
MAPPED = {"tournament/bots/": "bots/", "tournament/games/": "games/"}
COMMANDS = (
    "list games",
    "list bots",
    "play tit_for_tat random --rounds 5",
    "check {bots}/fair_bot.py",
    "run --rounds 3 --reps 1",
    "run --game chicken --reps 1 --db other.duckdb --json",
    "leaderboard",
    "matrix",
    "list runs",
    "replay 1",
    "digest",
    "sql 'from leaderboard'",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHECKOUT / ".git").exists(), reason="is not a checkout"),
]


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Run a command that must succeed, and return what it prints."""
    done = subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of this checkout, including files that are not tracked and an outdated image."""
    folder = tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns(
        ".git", ".*_cache", "__pycache__", "build", "dist", "*.egg-info"
    )
    shutil.copytree(CHECKOUT, folder / "checkout", ignore=ignored)
    stale = folder / "checkout" / "tournament" / "sandbox" / "bot-0123456789abcdef.wasm"
    stale.write_bytes(b"an image of a guest that was changed since")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, "checkout", cwd=folder)
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def names(wheel: Path) -> Sequence[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_has_one_top_level_name(names: Sequence[str]) -> None:
    info = f"tournament-{tournament.__version__}.dist-info"
    assert {name.partition("/")[0] for name in names} == {"tournament", info}


def test_every_file_of_the_wheel_except_the_image_is_tracked(names: Sequence[str]) -> None:
    tracked = set(run("git", "ls-files", cwd=CHECKOUT).splitlines())
    sources = set()
    for name in names:
        mapped = next((prefix for prefix in MAPPED if name.startswith(prefix)), "")
        sources.add(MAPPED[mapped] + name.removeprefix(mapped) if mapped else name)
    assert {name for name in sources - tracked if ".dist-info/" not in name} == {
        f"tournament/sandbox/{image_name()}"
    }


def test_every_tracked_file_of_the_package_is_in_the_wheel(names: Sequence[str]) -> None:
    tracked = run("git", "ls-files", "tournament", "bots", "games", cwd=CHECKOUT).splitlines()
    mapped = {name if name.startswith("tournament/") else f"tournament/{name}" for name in tracked}
    assert mapped <= set(names)


def test_the_packages_in_pyproject_are_the_tracked_folders() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
    listed = project["tool"]["setuptools"]["packages"]
    tracked = run("git", "ls-files", "tournament", "bots", "games", cwd=CHECKOUT).splitlines()
    folders = {Path(name).parent.as_posix() for name in tracked if name.endswith("__init__.py")}
    dotted = {folder.replace("/", ".") for folder in folders}
    assert listed == sorted(dotted - {"bots", "games"} | {"tournament.bots", "tournament.games"})


def test_the_installed_wheel_works_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    script = "import tournament.bots; print(tournament.bots.__path__[0])"
    bots = run(python, "-I", "-c", script, cwd=outside).strip()
    assert bots.startswith(str(tmp_path / "venv"))
    for name in ("bots", "games", "tests", "results"):
        script = f"import importlib.util; assert importlib.util.find_spec({name!r}) is None"
        run(python, "-I", "-c", script, cwd=outside)
    for command in COMMANDS:
        shell = f"{tmp_path}/venv/bin/tournament {command.format(bots=bots)}"
        assert run("sh", "-c", shell, cwd=outside), command
    assert {path.name for path in outside.iterdir()} == {
        "results",
        "other.duckdb",
        "other.duckdb.lock",
    }
