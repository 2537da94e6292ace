"""What of the arithmetic in a call can have got into its results, by the memory that each step reads and writes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tritonaudit.suites.arithmetic import Spent


@dataclass(frozen=True)
class Step:
    """An operator of torch, or a launch: what it computes, and the addresses of storages that it reads and writes.

    Of a launch nobody knows what it reads: `reads` is None. What writes nothing tells the host something.
    """

    spent: Spent
    writes: frozenset[int]
    reads: frozenset[int] | None = None


def reaching(steps: Sequence[Step], results: Collection[int]) -> Spent:
    """What the steps computed on the way to the storages at these addresses.

    What the host was told may be in all that was done later.
    """
    needed, spent = set(results), Spent()
    is_all_needed = is_followed = False
    for step in reversed(steps):
        if not (is_all_needed or step.writes & needed or (is_followed and not step.writes)):
            continue
        spent += step.spent
        is_followed = True
        is_all_needed = is_all_needed or step.reads is None
        needed |= step.reads or frozenset()
    return spent
