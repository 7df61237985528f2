"""The sandbox image, which all tests share."""

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tournament.sandbox.image import Image, prepare

if TYPE_CHECKING:
    from tournament.sandbox.instance import Image as Sandbox

settings.register_profile("tournament", deadline=None, derandomize=True)
settings.load_profile("tournament")


@pytest.fixture(scope="session")
def image() -> Image:
    """The sandbox image, built and compiled once."""
    return prepare()


@pytest.fixture(scope="session")
def sandbox(image: Image) -> "Sandbox":
    """The image, loaded into this process, and so without the lock that a worker has around it."""
    from tournament.sandbox.instance import Image as Sandbox

    return Sandbox(image.compiled)
