"""Programs as the front end writes them, so that what is named after a variable is what the variable is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """Of programs made meanwhile nothing is merged, or moved past a broadcast or a cast, and helpers are called."""
    from tritonaudit.capture import front_end

    own = front_end.optimised
    front_end.optimised = _untouched
    try:
        yield
    finally:
        front_end.optimised = own


def _untouched(module: Any, *_: Any) -> Any:
    return module
