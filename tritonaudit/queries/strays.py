"""Does an access go where its tensor has no element, or do two programs or lanes store to one?

A launch is tried at sizes that take several whole tiles, as its host code makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeVar

from tritonaudit.domains.affine import AtomKind
from tritonaudit.domains.analysis import for_launch
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.host.arithmetic import TooLarge
from tritonaudit.host.host import LaunchSite
from tritonaudit.queries.answer import Refuted
from tritonaudit.queries.footprints import Layout, Numbers
from tritonaudit.queries.points import NotKnown
from tritonaudit.queries.strides import misaddressed
from tritonaudit.queries.trials import Place, Trials, place_of
from tritonaudit.queries.updates import parameter_of

_MOST_SITES = 4
_WRAPPING = ("Modulo", "minimum", "maximum")
_Program = tuple[int, int, int]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Astray:
    """A program of the launch is at `place` of a tensor that has no element there."""

    access: Access
    site: LaunchSite
    tensor: str
    layout: Layout
    program: _Program
    place: int


@dataclass(frozen=True, eq=False)
class Meeting:
    """Two programs of the launch, or two lanes of one, store to the same `place` of a tensor."""

    access: Access
    site: LaunchSite
    tensor: str
    layout: Layout
    programs: tuple[_Program, _Program]
    place: int


@lru_cache(maxsize=8)
def astray(flow: KernelFlow) -> tuple[Refuted[Astray], ...]:
    """The first access to each parameter that goes to what is no element of its tensor."""
    return tuple(_each(flow, lambda trials, place: trials.first(_Straying(trials, place))))


@lru_cache(maxsize=8)
def meetings(flow: KernelFlow) -> tuple[Refuted[Meeting], ...]:
    """The first store to each parameter that two programs or lanes, which its index depends on, make to one place."""

    def asked(trials: Trials, place: Place) -> Refuted[Meeting] | None:
        is_asked = place.access.kind == "store" and not _wraps(place)
        return trials.first(_Meeting(trials, place)) if is_asked else None

    return tuple(_each(flow, asked))


def _each(flow: KernelFlow, asked: Callable[[Trials, Place], Refuted[T] | None]) -> Iterator[Refuted[T]]:
    """The first answer for each parameter; none where another tensor's strides are taken for its own."""
    seen = {parameter_of(one.access) for one in misaddressed(flow)}
    for site in islice(flow.launches.sites, _MOST_SITES):
        launched = for_launch(flow, site)
        for access in launched.accesses if site.is_whole else ():
            parameter = parameter_of(access)
            if parameter is None or parameter in seen or not launched.whiles.isdisjoint(access.loops):
                continue
            try:
                place = place_of(access, parameter)
                found = asked(Trials(launched, site, parameter, place), place)
            except (NotKnown, TooLarge):
                continue
            if found is not None:
                seen.add(parameter)
                yield found


@dataclass(frozen=True)
class _Straying:
    trials: Trials
    place: Place

    def __call__(self, site: LaunchSite, launch: Numbers, layout: Layout) -> Astray | None:
        for program, touched in self.place.footprint.at_ends(launch):
            for at in sorted(touched):
                if not layout.has(at):
                    return Astray(self.place.access, site, self.trials.memory.name, layout, program, at)
        return None


@dataclass(frozen=True)
class _Meeting:
    trials: Trials
    place: Place

    def __call__(self, site: LaunchSite, launch: Numbers, layout: Layout) -> Meeting | None:
        name, access, footprint = self.trials.memory.name, self.place.access, self.place.footprint
        axes = _axes(self.place)
        for program, at in footprint.repeats(launch):
            return Meeting(access, site, name, layout, (program, program), at)
        seen: dict[int, _Program] = {}
        for program, touched in footprint.at_ends(launch):
            for at in touched:
                other = seen.setdefault(at, program)
                if any(other[axis] != program[axis] for axis in axes):
                    return Meeting(access, site, name, layout, (other, program), at)
        return None


def _wraps(place: Place) -> bool:
    """Whether lanes past the end go round to the beginning, or stay at the end, and store there what is there."""
    atoms = [atom for atom in place.index.atoms_inside() if atom.name in _WRAPPING]
    return any(one.lanes() for atom in atoms for one in atom.inner)


def _axes(place: Place) -> set[int]:
    """The axes of the grid that the index depends on otherwise than by a quotient of the program's number."""
    found, waiting = set(), [place.index]
    while waiting:
        for atom in waiting.pop().atoms():
            if atom.kind is AtomKind.PID and atom.grid_axis is not None:
                found.add(atom.grid_axis)
            inner = () if atom.name == "FloorDivide" else atom.inner
            waiting += [part for part in (atom.start, *inner) if part is not None]
    return found
