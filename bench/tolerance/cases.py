"""All that is tried, in three parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench.tolerance import first, later, mixed
from bench.tolerance.trial import Operation, Trial

PARTS: Mapping[str, tuple[Operation, ...]] = {
    "on which the limits were chosen": first.OPERATIONS,
    "added when the limits were fixed": later.OPERATIONS,
    "in mixed precision": mixed.OPERATIONS,
}


def trials(part: str) -> Iterator[Trial]:
    """Each kernel of the part in each dtype."""
    for operation in PARTS[part]:
        for way in operation.ways:
            for dtype in way.dtypes:
                yield Trial(operation, way, dtype)
