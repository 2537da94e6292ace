"""Accesses to global memory as the readers of assembly find them, gathered by source line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tritonaudit.compile.facts import AccessKind, LineAccess
from tritonaudit.compile.ttir import Location
from tritonaudit.finding import Span


@dataclass(frozen=True)
class Access:
    """One instruction's access: how many bytes it moves per lane, 0 for a bulk copy."""

    location: Location
    kind: AccessKind
    bytes: int


_OPERATIONS = {
    AccessKind.LOAD: ("tt.load", "tt.atomic_rmw", "tt.atomic_cas"),
    AccessKind.ASYNC_COPY: ("tt.load",),
    AccessKind.STORE: ("tt.store",),
    AccessKind.ATOMIC: ("tt.atomic_rmw", "tt.atomic_cas"),
}
"""Which operations may become which accesses; an atomic may begin with a load."""


def at_operations(accesses: Iterable[Access], operations: Mapping[Location, str]) -> list[Access]:
    """The accesses at the operations that they stem from.

    Where LLVM joins AMD's instructions in a clause, it gives them all the location of what follows. An access at the
    location of no operation like it is put to the one such operation that has none, and left out if there are more.
    """
    right: list[Access] = []
    wrong: list[Access] = []
    for access in accesses:
        fits = operations.get(access.location) in _OPERATIONS[access.kind]
        (right if fits else wrong).append(access)
    taken = {access.location for access in right}
    for access in wrong:
        wanted = _OPERATIONS[access.kind][0]
        free = [place for place, operation in operations.items() if operation == wanted and place not in taken]
        if len(free) == 1:
            right.append(replace(access, location=free[0]))
    return right


def by_line(accesses: Iterable[Access], first_column: int) -> tuple[LineAccess, ...]:
    """The accesses of each place and kind together, in the order of the source.

    A span is the one character that the compiler names, which lies in the access's call: up to Triton 3.6 it may begin
    one of its arguments.
    """
    widths: dict[tuple[Location, AccessKind], Counter[int]] = defaultdict(Counter)
    for access in accesses:
        widths[access.location, access.kind][access.bytes] += 1
    found = [
        LineAccess(location.path, span_at(location, first_column), kind, tuple(sorted(counts.items(), reverse=True)))
        for (location, kind), counts in widths.items()
    ]
    return tuple(sorted(found, key=lambda access: (access.path, access.span, access.kind.value)))


def span_at(location: Location, first_column: int) -> Span:
    """The one character at the location, where the compiler counts columns from `first_column`."""
    column = location.column + 1 - first_column
    return Span(location.line, column, location.line, column + 1)
