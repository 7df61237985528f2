"""The files of an image."""

import hashlib
from pathlib import Path

import pytest

from tournament.sandbox import image


def test_the_digest_is_that_of_the_present_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    component = tmp_path / "bot-0.wasm"
    monkeypatch.setenv("TOURNAMENT_CACHE", str(tmp_path))
    monkeypatch.setattr(image, "_component", lambda folder, report: component)
    monkeypatch.setattr(image, "_compile", lambda component: b"")
    for content in (b"one", b"another", b"a third"):
        component.write_bytes(content)
        for _ in range(2):
            assert image.prepare().digest == hashlib.sha256(content).hexdigest()
