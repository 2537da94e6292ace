"""Why accesses are narrower than they could be: compiled again under assumptions, which one widens them?"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.compile.accesses import span_at
from tritonaudit.compile.facts import AccessKind, Cause, LineAccess, Narrow
from tritonaudit.compile.reach import Reach, reaches
from tritonaudit.compile.ttir import Module
from tritonaudit.finding import Span

WIDEST = 16
"""Bytes per lane from which on an access is wide: the most that one instruction moves, except from sm_100 on."""

MOST_COMPILATIONS = 24
"""How often a program is compiled again at most; what it leaves unexplained is not reported."""

Recompile = Callable[[Module], tuple[LineAccess, ...] | None]
"""Compiles a module as the program was, as far as its assembly; None where that fails."""


def narrow_accesses(module: Module, accesses: Sequence[LineAccess], recompile: Recompile) -> tuple[Narrow, ...]:
    """The accesses that a single assumption about an argument, or the fewest together, would widen.

    An access that no assumption widens is not narrow: its block may be too small. But where lanes are a stride apart
    that is not known to be 1, they access what does not lie together, however wide each of them could be.
    Arguments are named as in the source where the module knows their names, else as in its text (`arg0`).
    """
    return tuple(_Search(module, accesses, recompile).explained(_suspects(module, accesses)))


@dataclass(frozen=True)
class _Assumption:
    """That some arguments' values are divisible by 16, and that others' are 1."""

    divisible: frozenset[str] = frozenset()
    one: frozenset[str] = frozenset()

    def __or__(self, other: _Assumption) -> _Assumption:
        return _Assumption(self.divisible | other.divisible, self.one | other.one)

    def __sub__(self, other: _Assumption) -> _Assumption:
        return _Assumption(self.divisible - other.divisible, self.one - other.one)

    def __bool__(self) -> bool:
        return bool(self.divisible or self.one)

    def parts(self) -> list[_Assumption]:
        """The assumptions about one argument each that it is made of."""
        return [
            *(_Assumption(one=frozenset({name})) for name in sorted(self.one)),
            *(_Assumption(divisible=frozenset({name})) for name in sorted(self.divisible)),
        ]


_Place = tuple[str, Span, str]


@dataclass(frozen=True)
class _Suspect:
    """An access that moves less than it could, with what reaches it and what may be assumed of that."""

    access: LineAccess
    reach: Reach
    divisible: _Assumption
    one: _Assumption

    @property
    def place(self) -> _Place:
        return _place(self.access)


def _place(access: LineAccess) -> _Place:
    """Where an access is, and which way it goes: a wider load may become an asynchronous copy."""
    direction = {AccessKind.STORE: "write", AccessKind.ATOMIC: "update"}.get(access.kind, "read")
    return access.path, access.span, direction


def _suspects(module: Module, accesses: Iterable[LineAccess]) -> list[_Suspect]:
    first_column = 0 if module.counts_columns_from_zero else 1
    known = {(location.path, span_at(location, first_column)): reach for location, reach in reaches(module).items()}
    suspects = []
    for access in accesses:
        reach = known.get((access.path, access.span))
        if reach is not None and access.kind is not AccessKind.BULK_COPY and access.narrowest < WIDEST:
            suspects.append(_Suspect(access, reach, *_assumptions(module, reach)))
    return suspects


def _assumptions(module: Module, reach: Reach) -> tuple[_Assumption, _Assumption]:
    unknown = {a.name for a in module.arguments if (a.is_pointer or a.is_integer) and a.divisibility % 16}
    return (
        _Assumption(divisible=frozenset(unknown & (reach.address | reach.mask))),
        _Assumption(one=reach.lane_strides),
    )


_ORDER = (Cause.LANE_STRIDE, Cause.ALIGNMENT, Cause.STRIDE, Cause.MASK)
"""Of several causes together, the one that is named: the hardest to fix."""


class _TooMany(Exception):
    """There were as many compilations as there may be."""


class _Search:
    """Tries assumptions on a module; each is compiled once."""

    def __init__(self, module: Module, accesses: Iterable[LineAccess], recompile: Recompile) -> None:
        self._module = module
        self._recompile = recompile
        self._widths = {_Assumption(): _narrowest(accesses)}

    def explained(self, suspects: Sequence[_Suspect]) -> list[Narrow]:
        """Divisibility is tried first: it asks less of a caller than a stride of 1 between lanes.

        Of such strides each is tried alone, since a second one would put lanes at overlapping addresses.
        """
        found: dict[_Place, Narrow] = {}
        with contextlib.suppress(_TooMany):
            for narrow in self._widened(suspects, _all(suspect.divisible for suspect in suspects)):
                found[_place(narrow.access)] = narrow
            for stride in _all(suspect.one for suspect in suspects).parts():
                rest = [s for s in suspects if s.place not in found and stride.one <= s.one.one]
                for narrow in self._widened(rest, _all(suspect.divisible | stride for suspect in rest)):
                    found[_place(narrow.access)] = narrow
        for suspect in suspects:
            if suspect.one and suspect.place not in found:
                found[suspect.place] = self._narrow(suspect, suspect.one, suspect.access.narrowest)
        return [found[suspect.place] for suspect in suspects if suspect.place in found]

    def _widened(self, suspects: Sequence[_Suspect], everything: _Assumption) -> Iterator[Narrow]:
        """Those that `everything` widens, each with the part of it without which it would be narrower."""
        for suspect in suspects:
            best = self._width(suspect, everything)
            if best > suspect.access.narrowest:
                parts = everything.parts()
                needed = _all(part for part in parts if self._width(suspect, everything - part) < best)
                enough = self._width(suspect, needed) >= best
                yield self._narrow(suspect, needed if enough else self._fewest(suspect, everything, best), best)

    def _fewest(self, suspect: _Suspect, everything: _Assumption, best: int) -> _Assumption:
        """For an access that either of two assumptions widens: those that are left when one after the other goes."""
        left = everything
        for part in everything.parts():
            if self._width(suspect, left - part) >= best:
                left -= part
        return left

    def _width(self, suspect: _Suspect, assumption: _Assumption) -> int:
        if assumption not in self._widths:
            if len(self._widths) > MOST_COMPILATIONS:
                raise _TooMany
            accesses = self._recompile(self._module.assuming(assumption.divisible, assumption.one))
            self._widths[assumption] = _narrowest(accesses or ())
        return self._widths[assumption].get(suspect.place, 0)

    def _narrow(self, suspect: _Suspect, assumption: _Assumption, width: int) -> Narrow:
        arguments = [a for a in self._module.arguments if a.name in assumption.divisible | assumption.one]
        causes = [self._cause(suspect, a.name, a.is_pointer, assumption) for a in arguments]
        names = tuple(a.parameter or a.name for a in arguments)
        return Narrow(suspect.access, suspect.access.narrowest, width, min(causes, key=_ORDER.index), names)

    def _cause(self, suspect: _Suspect, name: str, is_pointer: bool, assumption: _Assumption) -> Cause:
        if name in assumption.one:
            return Cause.LANE_STRIDE
        if is_pointer:
            return Cause.ALIGNMENT
        return Cause.MASK if name in suspect.reach.mask else Cause.STRIDE


def _narrowest(accesses: Iterable[LineAccess]) -> dict[_Place, int]:
    widths: dict[_Place, int] = {}
    for access in accesses:
        width = WIDEST if access.kind is AccessKind.BULK_COPY else access.narrowest
        widths[_place(access)] = min(width, widths.get(_place(access), width))
    return widths


def _all(assumptions: Iterable[_Assumption]) -> _Assumption:
    result = _Assumption()
    for assumption in assumptions:
        result |= assumption
    return result
