"""Builds the package with the sandbox image, in a wheel or in a checkout that is installed as editable."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


class BuildWithImage(build_py):
    """The command `build_py`, which also builds the image and puts it beside the modules of the sandbox."""

    def run(self) -> None:
        super().run()
        from tournament.sandbox import image

        package = HERE if self.editable_mode else Path(self.build_lib)
        target = package / "tournament" / "sandbox" / image.image_name()
        for stale in set(target.parent.glob("bot-*.wasm")) - {target}:
            stale.unlink()
        if not target.exists():
            image.build(target)


setup(cmdclass={"build_py": BuildWithImage})
