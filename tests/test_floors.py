"""The house has floors: what may import what, as data, and what of other people's stays behind which door."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tournament

HOUSE = Path(tournament.__file__).parent
PACKAGES = {"bots", "games"}
"""Folders that are mapped into the package; what is in them is data to everything else."""

WORDS = {"errors", "seeds", "game", "program", "match"}
FLOORS: dict[str, set[str]] = {
    # Words that every floor uses.
    "errors": set(),
    "seeds": set(),
    "game": {"errors", "seeds"},
    "program": {"errors", "game"},
    "match": set(),
    "__init__": WORDS,
    "theory": {"errors"},
    "library": {"errors", "game", "program"},
    # The only place that runs bots; engine, store and oracles are siblings.
    "sandbox": {"errors", "seeds"},
    "engine": WORDS | {"library", "sandbox"},
    "store": WORDS,
    "oracles": WORDS,
    # Where they meet.
    "evolve": WORDS | {"engine", "library", "oracles", "sandbox", "theory"},
    "runs": WORDS | {"__init__", "engine", "evolve", "library", "oracles", "sandbox", "store"},
    "report": WORDS | {"engine", "evolve", "library", "runs", "store"},
}
COMMANDS = {"cli", "__main__"}
"""The top: they may import everything, and nothing imports them."""

DOORS: dict[str, set[str]] = {
    "aiohttp": {"oracles/transport"},
    "anyio": {
        *("sandbox/pool", "sandbox/forkserver", "sandbox/ready", "engine/run", "store/recorder"),
        *("oracles/", "evolve/", "runs/", "cli/"),
    },
    "duckdb": {"store/"},
    "genai_prices": {"oracles/prices"},
    "httpx2": {"oracles/transport"},
    "jinja2": {"oracles/prompts"},
    "matplotlib": {"report/plot"},
    "numpy": {"store/rows", "theory/"},
    "openai": {"oracles/transport"},
    "pydantic": {"oracles/settings"},
    "pydantic_settings": {"oracles/settings"},
    "rich": {"report/progress", "report/tables"},
    "typer": {"cli/"},
    "wasmtime": {"sandbox/image", "sandbox/instance", "sandbox/wasm/merge"},
}
"""Of other people's: which modules may import it."""

LATE: dict[str, str] = {
    "cli/": "a command imports what it needs, so that help comes at once",
    "engine/worker": "the library takes longer to import than the rest of a worker's start",
    "oracles/spec": "an oracle imports what it needs: openai takes a second",
    "sandbox/image": "an image is built where wasmtime is not installed",
}
"""Modules that import others of ours, or of other people's, inside functions, and why."""


@dataclass(frozen=True)
class Import:
    """An import in a module: what, whether when the module is imported, and whether only types are meant."""

    module: str
    name: str
    late: bool
    typing: bool

    @property
    def root(self) -> str:
        return self.name.partition(".")[0]

    @property
    def floor(self) -> str:
        """The floor of ours that is imported."""
        return self.name.split(".")[1] if "." in self.name else "__init__"


def is_typing(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_in(
    module: str, tree: ast.AST, late: bool = False, typing: bool = False
) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: relative imports hide where they lead"
            # Of `from tournament.report import tables`, the module is the last word.
            names = [
                f"{node.module}.{alias.name}"
                if is_module(f"{node.module}.{alias.name}")
                else str(node.module)
                for alias in node.names
            ]
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from imports_in(module, node, late or inside, typing or is_typing(node))
            continue
        for name in names:
            yield Import(module, name, late, typing)


def is_module(name: str) -> bool:
    parts = name.split(".")[1:]
    file = HOUSE.joinpath(*parts)
    return name.startswith("tournament.") and (file.with_suffix(".py").exists() or file.is_dir())


def modules() -> dict[str, list[Import]]:
    """The imports of every module that runs in our process; the guest's run in the image."""
    files = {
        file.relative_to(HOUSE).with_suffix("").as_posix(): file
        for file in sorted(HOUSE.rglob("*.py"))
        if "guest" not in file.parts
    }
    return {
        name: [*imports_in(name, ast.parse(file.read_text("utf-8")))]
        for name, file in files.items()
        if name.partition("/")[0] not in PACKAGES
    }


MODULES = modules()
ALL = [each for imports in MODULES.values() for each in imports]
OURS = [each for each in ALL if each.root == "tournament"]


def floor_of(module: str) -> str:
    return module.partition("/")[0]


def test_every_module_is_on_a_floor() -> None:
    assert {floor_of(module) for module in MODULES} == FLOORS.keys() | COMMANDS


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_imports_only_what_is_below_it(floor: str) -> None:
    imported = {
        each.floor: each.module
        for each in OURS
        if floor_of(each.module) == floor and each.floor != floor and not each.typing
    }
    assert {name: by for name, by in imported.items() if name not in FLOORS[floor]} == {}


def test_the_floors_have_no_cycle() -> None:
    below: dict[str, set[str]] = {}
    for _ in FLOORS:
        below = {
            floor: allowed.union(*(below.get(each, set()) for each in allowed))
            for floor, allowed in FLOORS.items()
        }
    assert [floor for floor, reached in below.items() if floor in reached] == []


def test_modules_of_a_floor_do_not_import_each_other_in_a_circle() -> None:
    imported = {
        module: {
            each.name.removeprefix("tournament.").replace(".", "/")
            for each in imports
            if each.root == "tournament" and not each.late and not each.typing
        }
        & MODULES.keys()
        for module, imports in MODULES.items()
    }
    while leaves := {module for module, names in imported.items() if not names & imported.keys()}:
        imported = {module: names for module, names in imported.items() if module not in leaves}
    assert imported == {}


@pytest.mark.parametrize("name", DOORS)
def test_what_others_made_stays_behind_its_door(name: str) -> None:
    doors = tuple(DOORS[name])
    users = {each.module for each in ALL if each.root == name}
    assert {
        user
        for user in users
        if user not in doors and not user.startswith(tuple(d for d in doors if d.endswith("/")))
    } == set()


def test_nothing_else_of_other_people_is_used() -> None:
    others = {each.root for each in ALL} - sys.stdlib_module_names - {"tournament"}
    assert others == DOORS.keys()


def test_the_words_use_the_standard_library_only() -> None:
    users = [each for each in ALL if floor_of(each.module) in WORDS | {"__init__", "library"}]
    assert {each.root for each in users} <= sys.stdlib_module_names | {"tournament"}


def test_imports_inside_functions_have_a_reason() -> None:
    late = {
        "cli/" if each.module.startswith("cli/") else each.module
        for each in ALL
        if each.late and not each.typing and each.root not in sys.stdlib_module_names
        if each.root != "matplotlib"  # an extra, which need not be there
    }
    assert late == LATE.keys()


def test_games_are_written_in_the_words_for_games_and_bots_import_nothing_of_ours() -> None:
    for folder, allowed in {"games": {"errors", "game", "seeds"}, "bots": set[str]()}.items():
        for file in (HOUSE.parent / folder).glob("*.py"):
            imports = imports_in(file.stem, ast.parse(file.read_text("utf-8")))
            ours = {each.floor for each in imports if each.root == "tournament"}
            assert ours <= allowed, file
