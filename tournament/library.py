"""Finds games and bots. A name is the path of a file, or else the name of one that comes with the engine.

A game is trusted code and is imported. A bot is not trusted: it is only read as text and never parsed or
imported here.
"""

import importlib.util
import inspect
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any

from tournament.errors import NotFound, ParameterError, ProgramRefused, TournamentError, UsageError
from tournament.game import Game, MatrixGame, StateGame
from tournament.program import Program, read_program

GameFactory = Callable[[Mapping[str, object]], Game]

_TRUTH = {"true": True, "false": False}
_READERS: dict[object, tuple[Callable[[str], object], str]] = {
    int: (int, "a whole number"),
    float: (float, "a number"),
    bool: (lambda text: _TRUTH[text.lower()], "true or false"),
    str: (str, "text"),
}
"""For each type of parameter: the function that reads its text, and what an error message calls the type."""
PROBES = (
    Program("first", "def act(view):\n    return view.legal[0]\n"),
    Program("last", "def act(view):\n    return view.legal[-1]\n"),
    Program("mixed", "def act(view):\n    return view.rng.choice(view.legal)\n"),
)
"""The opponents a bot is checked against, in addition to itself. Together they make all kinds of moves."""


def games() -> list[str]:
    """Return the names of the games that come with the engine, in alphabetical order."""
    return _names(_packaged("games"))


def load_game(name: str | Path, parameters: Mapping[str, str] = {}) -> Game:
    """Return the game with this name or in this file; parameters that are not given have their defaults.

    Raises `NotFound` if there is no such game, and `ParameterError` for a parameter that the game does not have or a
    text that is not a valid value. Raises `UsageError`, which names the file, if the file defines no game or its code
    fails.
    """
    file = _GameFile(_find("game", name))
    return file.game(file.values(parameters))


def load_games(names: Sequence[str], parameters: Mapping[str, str] = {}) -> list[Game]:
    """Return several games. A parameter `p` applies to every game that has it, `GAME.p` only to the game named.

    Raises the same errors as `load_game`, and `UsageError` for a game that is named twice or a parameter that none of
    the games has.
    """
    stems = [Path(name).stem for name in names]
    if repeated := [stem for stem in stems if stems.count(stem) > 1]:
        raise UsageError(f"--game {repeated[0]} is given twice: name each game once")
    own: dict[str, dict[str, str]] = {stem: {} for stem in stems}
    # Parameters that name a game come last, so that they override the others.
    for parameter, value in sorted(parameters.items(), key=lambda each: "." in each[0]):
        game, _, text = parameter.rpartition(".")
        if game or len(names) == 1:
            takers = [stem for stem in stems if game in ("", stem)]
        else:
            takers = [Path(name).stem for name in names if text in parameters_of(name)]
        if not takers:
            raise UsageError(f"{parameter} is not a parameter of {' or '.join(stems)}")
        for stem in takers:
            own[stem][text] = value
    return [load_game(name, own[stem]) for name, stem in zip(names, stems, strict=True)]


def game_factory(file: str | Path) -> GameFactory:
    """Return a factory that makes the game in a file from parameter values. The file is imported only once, now.

    Both this function and the factory raise the same errors as `load_game`.
    """
    return _GameFile(Path(file)).game


def parameters_of(name: str | Path) -> dict[str, object]:
    """Return the parameters of a game with their default values, in the order of the game's signature.

    Raises `NotFound` and `UsageError` as `load_game` does.
    """
    parameters = _GameFile(_find("game", name)).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


def describe_game(name: str | Path) -> str:
    """Return the first line of a game file's docstring. Raises `NotFound` and `UsageError` as `load_game` does."""
    return _GameFile(_find("game", name)).summary


class _GameFile:
    """A game's file, which is imported anew. Raises `UsageError`, here and in its methods, for a file that is wrong."""

    def __init__(self, file: Path) -> None:
        self._file = file.absolute()
        module = _import(self._file)
        self.summary = inspect.cleandoc(module.__doc__ or "").partition("\n")[0]
        self._function: Any = getattr(module, "game", None)
        if not inspect.isfunction(self._function):
            raise UsageError(f"{self._file}: has no function game(...) that returns a MatrixGame")

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the file's function `game`."""
        with _blaming(self._file):
            parameters = inspect.signature(self._function, eval_str=True).parameters
        for name, parameter in parameters.items():
            if parameter.default is parameter.empty:
                raise UsageError(f"{self._file}: parameter {name} of game(...) has no default")
        return parameters

    def game(self, values: Mapping[str, object]) -> Game:
        """Return the game with these values of its parameters."""
        with _blaming(self._file):
            game = self._function(**values)
        if isinstance(game, StateGame):
            return replace(game, file=str(self._file))
        if not isinstance(game, MatrixGame):
            kind = type(game).__name__
            raise UsageError(f"{self._file}: game(...) returned {kind}, which is not a game")
        return game

    def values(self, texts: Mapping[str, str]) -> dict[str, object]:
        """Convert texts to values of the parameters. Raises `ParameterError`."""
        known, game = self.parameters, self._file.stem
        values = {}
        for name, text in texts.items():
            if name not in known:
                names = f"there are: {', '.join(known)}" if known else "it has none"
                raise ParameterError(game, name, f"is not a parameter of this game; {names}")
            values[name] = _read_parameter(game, known[name], text)
        return values


def _read_parameter(game: str, parameter: inspect.Parameter, text: str) -> object:
    """Convert a text to the parameter's annotated type or, without a known one, to the type of its default."""
    declared = parameter.annotation
    kind = declared if declared in _READERS else type(parameter.default)
    read, wanted = _READERS.get(kind, _READERS[str])
    try:
        return read(text)
    except (ValueError, KeyError):
        raise ParameterError(game, parameter.name, f"is {text!r}, but must be {wanted}") from None


def _import(file: Path) -> ModuleType:
    """Import the file, even if it was imported before, and return the new module."""
    spec = importlib.util.spec_from_file_location(f"tournament_game_{file.stem}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses that the file defines look up their module in `sys.modules`.
    sys.modules[spec.name] = module
    with _blaming(file):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _blaming(file: Path) -> Iterator[None]:
    """Turn any error that a game's file raises into a `UsageError` that names the file and the line."""
    try:
        yield
    except TournamentError:
        raise
    except Exception as error:  # the user must fix any error in a file of their own
        text = error.msg if isinstance(error, SyntaxError) else str(error)
        what = f"{type(error).__name__}: {' '.join(text.split())}"
        raise UsageError(f"{file}: line {_line(error, file)}: {what}") from error


def _line(error: Exception, file: Path) -> int:
    """Return the line of the file at which an error was raised, or 1 if the error does not say."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return error.lineno or 1
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == str(file)]
    return lines[-1] if lines else 1


@dataclass(frozen=True)
class Entrants:
    """The bots that were found in some files and folders.

    `programs` all have different sources and different names. `refused` are files that cannot be programs.
    `duplicates` are programs that were left out, each with the entered program that has the same source.
    """

    programs: tuple[Program, ...]
    refused: tuple[ProgramRefused, ...] = ()
    duplicates: tuple[tuple[Program, Program], ...] = ()

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """The names of the files that were not entered, each with the reason."""
        refused = [(Path(each.file.strip("'\"")).name, each.problem) for each in self.refused]
        return refused + [
            (Path(duplicate.path).name, f"is the same program as {entered.path}")
            for duplicate, entered in self.duplicates
        ]


def packaged_bots() -> Path:
    """Return the folder with the bots that come with the engine."""
    return _packaged("bots")


@cache
def packaged_sources() -> dict[str, str]:
    """Return the sources of the bots that come with the engine, by name. The files are read only once."""
    return {file.stem: read_program(file).source for file in _python_files(packaged_bots())}


def load_bot(name: str | Path) -> Program:
    """Return the program in a file, or else the bot of that name that comes with the engine.

    Raises `NotFound` if there is none, and `ProgramRefused` if the file cannot be a program.
    """
    return read_program(_find("bot", name))


def find_bots(paths: Sequence[Path]) -> Entrants:
    """Return the bots in files and folders. In a folder, every `*.py` that does not begin with `_` or `.` is a bot.

    The bots are in the order of the paths, and within a folder in the order of their names. If several programs share a
    name, the first six digits of their digests are added to it. Raises `UsageError` for a path that does not exist and
    for a folder without bots.
    """
    read: dict[Path, Program] = {}
    refused: dict[Path, ProgramRefused] = {}
    for named in paths:
        for file in _bot_files(named):
            try:
                read[file] = _read_bot(file, named)
            except ProgramRefused as error:
                refused[file] = error
    return _entrants(list(read.values()), list(refused.values()))


def _bot_files(named: Path) -> list[Path]:
    """Return the file itself, or all files of bots if it is a folder. Raises `UsageError` if there is none."""
    if named.is_file():
        return [named]
    if not named.is_dir():
        raise UsageError(f"{named}: there is no such file or folder")
    files = _python_files(named)
    if not files:
        raise UsageError(
            f"{named}: has no bots: a bot is a .py file whose name does not begin with _"
        )
    return files


def _read_bot(file: Path, named: Path) -> Program:
    """Return the program in `file`. `named` is the path that the user gave: the file itself or its folder."""
    if not file.is_file():
        raise ProgramRefused(str(file), "is not a file")
    # Other bots would see the contents of a link's target, and the record would keep them, so a
    # link must not lead to a file outside the folder.
    if not file.resolve().is_relative_to(named.resolve()):
        raise ProgramRefused(str(file), "is a link that leads out of its folder")
    return read_program(file)


def _entrants(read: Sequence[Program], refused: Sequence[ProgramRefused]) -> Entrants:
    """Enter the first program of each digest and list the others as duplicates.

    Names that several entered programs share get digits of the digest added to them.
    """
    first: dict[str, Program] = {}
    for program in read:
        first.setdefault(program.digest, program)
    times = Counter(program.name for program in first.values())
    entered = {
        digest: replace(p, name=f"{p.name}@{digest[:6]}") if times[p.name] > 1 else p
        for digest, p in first.items()
    }
    duplicates = ((p, entered[p.digest]) for p in read if first[p.digest] is not p)
    return Entrants(tuple(entered.values()), tuple(refused), tuple(duplicates))


def _packaged(folder: str) -> Path:
    """The path of a folder inside this package."""
    return Path(str(resources.files(f"tournament.{folder}")))


def _python_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.py") if file.name[0] not in "_.")


def _names(folder: Path) -> list[str]:
    return [file.stem for file in _python_files(folder)]


def _find(kind: str, name: str | Path) -> Path:
    """Return the file at a path, or else the file of that name that comes with the engine. Raises `NotFound`."""
    path = Path(name)
    if path.suffix == ".py" and path.is_file():
        return path
    folder = _packaged(f"{kind}s")
    if str(name) not in _names(folder):
        raise NotFound(kind, str(name), _names(folder))
    return folder / f"{name}.py"
