"""The public names of the packages are those that `__all__` lists."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import tournament
from tournament import oracles, store

PACKAGES = [tournament, store, oracles]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_all_lists_exactly_the_public_names(package: object) -> None:
    exported = {
        name
        for name, value in vars(package).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("tournament")
    }
    assert set(package.__all__) == exported  # type: ignore[attr-defined]
    assert list(package.__all__) == sorted(package.__all__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", tournament.__all__)
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert getattr(tournament, name).__doc__


def test_a_star_import_brings_the_public_names_and_nothing_else() -> None:
    names: dict[str, object] = {}
    exec("from tournament import *", names)
    assert names.keys() - {"__builtins__"} == set(tournament.__all__)


def test_the_version_is_that_of_the_installed_package() -> None:
    assert version("tournament") == tournament.__version__


def test_the_package_can_be_imported_without_any_dependency() -> None:
    """`import tournament` needs only the standard library: in this test nothing else can be imported."""
    script = """
import sys

class Nobody:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in sys.stdlib_module_names and root != "tournament":
            raise ImportError(name)

sys.meta_path.insert(0, Nobody())
import tournament
print(len(tournament.__all__))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) == len(tournament.__all__)
