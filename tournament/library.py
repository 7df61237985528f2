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
from functools import cache
from importlib import resources
from pathlib import Path
from types import ModuleType

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
    file = _find_game(name)
    function = _game_function(file)
    values = _read_parameters(file, function, parameters)
    return _made(file, function, values)


def load_games(names: Sequence[str], parameters: Mapping[str, str] = {}) -> list[Game]:
    """Return several games. A parameter `p` applies to every game that has it, `GAME.p` only to the game named.

    Raises the same errors as `load_game`, and `UsageError` for a game that is named twice or a parameter that none of
    the games has.
    """
    called = [Path(name).stem for name in names]
    for name in called:
        if called.count(name) > 1:
            raise UsageError(f"{name} is named twice")
    own = [_parameters_for(name, parameters, alone=len(names) == 1) for name in names]
    for parameter in parameters:
        if not any(parameter in taken for taken in own):
            raise UsageError(f"{parameter} is not a parameter of {' or '.join(called)}")
    return [
        load_game(name, {parameter.rpartition(".")[2]: value for parameter, value in taken.items()})
        for name, taken in zip(names, own, strict=True)
    ]


def _parameters_for(name: str, parameters: Mapping[str, str], *, alone: bool) -> dict[str, str]:
    """Return the parameters that apply to a game: first the shared ones, then those that name the game.

    A game that is loaded `alone` gets even unknown shared parameters, so that `load_game` reports them in full.
    """
    known = parameters_of(name)
    shared = {p: value for p, value in parameters.items() if p in known or (alone and "." not in p)}
    prefix = f"{Path(name).stem}."
    return shared | {p: value for p, value in parameters.items() if p.startswith(prefix)}


def game_factory(file: str | Path) -> GameFactory:
    """Return a factory that makes the game in a file from parameter values. The file is imported only once, now.

    Both this function and the factory raise the same errors as `load_game`.
    """
    path = Path(file)
    function = _game_function(path)
    return lambda values: _made(path, function, values)


def _made(file: Path, function: Callable[..., object], values: Mapping[str, object]) -> Game:
    """Call a game file's function and return its game. Raises `UsageError` if the result is not a game."""
    with _blaming(file):
        made = function(**values)
    if isinstance(made, StateGame):
        return replace(made, file=str(file))
    if not isinstance(made, MatrixGame):
        raise UsageError(f"{file}: game(...) returned {type(made).__name__}, which is not a game")
    return made


def parameters_of(name: str | Path) -> dict[str, object]:
    """Return the parameters of a game with their default values, in the order of the game's signature.

    Raises `NotFound` and `UsageError` as `load_game` does.
    """
    file = _find_game(name)
    return {name: p.default for name, p in _signature(file, _game_function(file)).items()}


def describe_game(name: str | Path) -> str:
    """Return the first line of a game file's docstring. Raises `NotFound` and `UsageError` as `load_game` does."""
    module = _import(_find_game(name))
    return inspect.cleandoc(module.__doc__ or "").partition("\n")[0]


def _find_game(name: str | Path) -> Path:
    return _find("game", name).absolute()


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


def _game_function(file: Path) -> Callable[..., object]:
    function = getattr(_import(file), "game", None)
    if not inspect.isfunction(function):
        raise UsageError(f"{file}: has no function game(...) that returns a MatrixGame")
    return function


def _signature(file: Path, function: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Return the parameters of a game's function by name. Raises `UsageError` if one has no default."""
    with _blaming(file):
        parameters = dict(inspect.signature(function, eval_str=True).parameters)
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty:
            raise UsageError(f"{file}: parameter {name} of game(...) has no default")
    return parameters


def _read_parameters(
    file: Path, function: Callable[..., object], texts: Mapping[str, str]
) -> dict[str, object]:
    """Convert the texts to values, according to the types of the function's parameters. Raises `ParameterError`."""
    known = _signature(file, function)
    values = {}
    for name, text in texts.items():
        if name not in known:
            there_are = f"there are: {', '.join(known)}" if known else "it has none"
            raise ParameterError(file.stem, name, f"is not a parameter of this game; {there_are}")
        values[name] = _read_parameter(file.stem, known[name], text)
    return values


def _read_parameter(game: str, parameter: inspect.Parameter, text: str) -> object:
    """Convert a text to the parameter's annotated type or, without a known one, to the type of its default."""
    declared = parameter.annotation
    kind = declared if declared in _READERS else type(parameter.default)
    read, wanted = _READERS.get(kind, _READERS[str])
    try:
        return read(text)
    except (ValueError, KeyError):
        raise ParameterError(game, parameter.name, f"is {text!r}, and must be {wanted}") from None


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
        raise UsageError(f"{named}: has no bots (files *.py that do not begin with _)")
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
    """Enter the first program of each digest and list the others as duplicates."""
    first: dict[str, Program] = {}
    for program in read:
        first.setdefault(program.digest, program)
    entered = {program.digest: program for program in _distinct(list(first.values()))}
    duplicates = ((p, entered[p.digest]) for p in read if first[p.digest] is not p)
    return Entrants(tuple(entered.values()), tuple(refused), tuple(duplicates))


def _distinct(programs: Sequence[Program]) -> list[Program]:
    """Return the programs, with digits of their digests added to the names that several of them share."""
    times = Counter(program.name for program in programs)
    return [
        replace(p, name=f"{p.name}@{p.digest[:6]}") if times[p.name] > 1 else p for p in programs
    ]


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
