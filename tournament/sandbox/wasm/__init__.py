"""What is done to an image when it has been built: its modules are made one, and what lasts in it is made immortal."""

from tournament.sandbox.wasm.immortal import immortalized
from tournament.sandbox.wasm.merge import merged


def finished(component: bytes) -> bytes:
    """The component that is to be compiled. Raises `ImageError` for one that was not built as images are."""
    return immortalized(merged(component))
