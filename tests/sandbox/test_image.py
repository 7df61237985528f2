"""The files of an image."""

import hashlib
from pathlib import Path

from tournament.sandbox import image


def test_the_digest_is_that_of_the_present_file(tmp_path: Path) -> None:
    component = tmp_path / "bot-0.wasm"
    for content in (b"one", b"another", b"a third"):
        component.write_bytes(content)
        for _ in range(2):
            assert image._digest(component, tmp_path) == hashlib.sha256(content).hexdigest()
