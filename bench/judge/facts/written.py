"""Programs as the front end writes them, so that what is named after a variable is what the variable is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """Programs made meanwhile have their helpers inlined, and nothing merged or moved past a broadcast or a cast."""
    from tritonaudit.capture import front_end

    own = front_end.optimised
    front_end.optimised = _inlined
    try:
        yield
    finally:
        front_end.optimised = own


def _inlined(module: Any, *_: Any) -> Any:
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    passes.common.add_inliner(manager)
    manager.run(module, "inlined")
    return module
