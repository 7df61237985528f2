"""The package's face is what it says it is."""

import subprocess
import sys
from importlib.metadata import version

import pytest

import tournament
from tournament import oracles, store

FACES = [tournament, store, oracles]


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_all_is_what_a_face_exports(face: object) -> None:
    exported = {
        name
        for name, value in vars(face).items()
        if not name.startswith("_") and getattr(value, "__module__", "").startswith("tournament")
    }
    assert set(face.__all__) == exported  # type: ignore[attr-defined]
    assert list(face.__all__) == sorted(face.__all__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", tournament.__all__)
def test_everything_on_the_face_has_a_docstring(name: str) -> None:
    assert getattr(tournament, name).__doc__


def test_a_star_import_brings_the_face_and_nothing_else() -> None:
    names: dict[str, object] = {}
    exec("from tournament import *", names)
    assert names.keys() - {"__builtins__"} == set(tournament.__all__)


def test_the_version_is_the_one_that_is_installed() -> None:
    assert version("tournament") == tournament.__version__


def test_the_face_is_had_without_any_dependency() -> None:
    """What `import tournament` takes is in the standard library: here nothing else can be imported."""
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
