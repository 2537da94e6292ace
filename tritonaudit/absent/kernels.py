"""Whether a kernel depends on what is absent."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

from tritonaudit.absent.stand_in import DependsOnStandIn, origin_of, reach


def reach_of(kernel: Any) -> None:
    """Note it of a kernel that has lost a decorator."""
    if (origin := origin_of(kernel)) is not None:
        reach(origin)


def raise_if_absent(kernel: Any) -> None:
    """Of a kernel that does not compile, raise DependsOnStandIn if it or a function that it calls names a stand-in."""
    origin = origin_of(kernel) or next(_stand_ins_named(kernel.fn, set()), None)
    if origin is not None:
        reach(origin)
        raise DependsOnStandIn(origin)


def _stand_ins_named(function: Any, seen: set[int]) -> Iterator[str]:
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if (origin := origin_of(value)) is not None:
            yield origin
        else:
            yield from _stand_ins_named(getattr(value, "fn", None), seen)
