"""Tables of allowed imports: which package may import which, and which modules may import which library."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tournament

PACKAGE = Path(tournament.__file__).parent
DATA_FOLDERS = {"bots", "games"}
"""Folders that are installed as part of the package, and whose files are data to all other modules."""

WORDS = {"errors", "seeds", "game", "program", "match"}
ALLOWED: dict[str, set[str]] = {
    # Modules that every package may use.
    "errors": set(),
    "seeds": set(),
    "game": {"errors", "seeds"},
    "program": {"errors", "game"},
    "match": set(),
    "__init__": WORDS,
    "theory": {"errors"},
    "library": {"errors", "game", "program"},
    # Only sandbox runs bots. Engine, store and oracles do not import each other.
    "sandbox": {"errors", "seeds"},
    "engine": WORDS | {"library", "sandbox"},
    "store": WORDS,
    "oracles": WORDS,
    # These packages combine the ones above.
    "evolve": WORDS | {"engine", "library", "oracles", "sandbox", "theory"},
    "runs": WORDS | {"__init__", "engine", "evolve", "library", "oracles", "sandbox", "store"},
    "report": WORDS | {"engine", "evolve", "library", "runs", "store"},
}
COMMANDS = {"cli", "__main__"}
"""The modules at the top, which may import everything and which nothing imports."""

USERS: dict[str, set[str]] = {
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
    "numpy": {"engine/group", "engine/matches", "engine/noise", "store/rows", "theory/"},
    "openai": {"oracles/transport"},
    "pydantic": {"oracles/settings"},
    "pydantic_settings": {"oracles/settings"},
    "rich": {"report/progress", "report/tables"},
    "typer": {"cli/"},
    "wasmtime": {"sandbox/image", "sandbox/instance", "sandbox/wasm/merge"},
}
"""For each library that is not part of Python, the modules and packages that may import it."""

LATE: dict[str, str] = {
    "cli/": "a command imports what it needs, so that help comes at once",
    "engine/worker": "the library takes longer to import than the rest of a worker's start",
    "oracles/spec": "an oracle imports what it needs: openai takes a second",
    "sandbox/image": "an image is built where wasmtime is not installed",
}
"""Modules that import other modules of this package, or libraries, inside functions, with the reason."""


@dataclass(frozen=True)
class Import:
    """An import in a module.

    `late` says that it is inside a function, and `typing` that it is only for type checkers.
    """

    module: str
    name: str
    late: bool
    typing: bool

    @property
    def root(self) -> str:
        return self.name.partition(".")[0]

    @property
    def package(self) -> str:
        """The package of this project that is imported."""
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
            assert not node.level, f"{module}: relative imports hide which module they import"
            # In `from tournament.report import tables`, the last word is a module.
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
    file = PACKAGE.joinpath(*parts)
    return name.startswith("tournament.") and (file.with_suffix(".py").exists() or file.is_dir())


def modules() -> dict[str, list[Import]]:
    """Return the imports of every module except those of the guest, which run in the image."""
    files = {
        file.relative_to(PACKAGE).with_suffix("").as_posix(): file
        for file in sorted(PACKAGE.rglob("*.py"))
        if "guest" not in file.parts
    }
    return {
        name: [*imports_in(name, ast.parse(file.read_text("utf-8")))]
        for name, file in files.items()
        if name.partition("/")[0] not in DATA_FOLDERS
    }


MODULES = modules()
ALL = [each for imports in MODULES.values() for each in imports]
OURS = [each for each in ALL if each.root == "tournament"]


def package_of(module: str) -> str:
    return module.partition("/")[0]


def test_every_package_is_in_the_table() -> None:
    assert {package_of(module) for module in MODULES} == ALLOWED.keys() | COMMANDS


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    imported = {
        each.package: each.module
        for each in OURS
        if package_of(each.module) == package and each.package != package and not each.typing
    }
    assert {name: by for name, by in imported.items() if name not in ALLOWED[package]} == {}


def test_the_table_of_packages_has_no_cycle() -> None:
    below: dict[str, set[str]] = {}
    for _ in ALLOWED:
        below = {
            package: allowed.union(*(below.get(each, set()) for each in allowed))
            for package, allowed in ALLOWED.items()
        }
    assert [package for package, reached in below.items() if package in reached] == []


def test_modules_do_not_import_each_other_in_a_circle() -> None:
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


@pytest.mark.parametrize("name", USERS)
def test_a_library_is_imported_only_by_the_modules_listed_for_it(name: str) -> None:
    listed = tuple(USERS[name])
    users = {each.module for each in ALL if each.root == name}
    assert {
        user
        for user in users
        if user not in listed and not user.startswith(tuple(d for d in listed if d.endswith("/")))
    } == set()


def test_every_imported_library_is_in_the_table() -> None:
    others = {each.root for each in ALL} - sys.stdlib_module_names - {"tournament"}
    assert others == USERS.keys()


def test_basic_modules_import_only_the_standard_library() -> None:
    users = [each for each in ALL if package_of(each.module) in WORDS | {"__init__", "library"}]
    assert {each.root for each in users} <= sys.stdlib_module_names | {"tournament"}


def test_imports_inside_functions_have_a_reason() -> None:
    late = {
        "cli/" if each.module.startswith("cli/") else each.module
        for each in ALL
        if each.late and not each.typing and each.root not in sys.stdlib_module_names
        if each.root != "matplotlib"  # matplotlib is an optional dependency
    }
    assert late == LATE.keys()


def test_games_import_only_three_modules_of_this_package_and_bots_import_none() -> None:
    for folder, allowed in {"games": {"errors", "game", "seeds"}, "bots": set[str]()}.items():
        for file in (PACKAGE.parent / folder).glob("*.py"):
            imports = imports_in(file.stem, ast.parse(file.read_text("utf-8")))
            ours = {each.package for each in imports if each.root == "tournament"}
            assert ours <= allowed, file
