"""What all tests share."""

from hypothesis import settings

settings.register_profile("tournament", deadline=None, derandomize=True)
settings.load_profile("tournament")
