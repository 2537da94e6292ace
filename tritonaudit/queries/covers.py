"""Does the grid of a launch reach the end of what the kernel's masks speak of?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from tritonaudit.domains.affine import GIVEN, ONE, ZERO, Affine, Atom, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.host.arithmetic import TooLarge
from tritonaudit.host.facts import Facts
from tritonaudit.host.host import Host, LaunchSite, NotKnown, Raised
from tritonaudit.host.order import is_at_most_zero
from tritonaudit.queries.answer import Proven, Refuted, Unknown
from tritonaudit.queries.unbounded import bounded_index

_SIZES = (1025, 1000, 129, 100, 33, 17, 7, 3, 2, 1, 4097, 65, 257)
_SHAPE = ".shape["
_MOST_TRIED, _MOST_REPLAYED, _MOST_UNKNOWNS, _MOST_CONFIGS = 600, 6, 4, 48


NO_AXIS = -1


@dataclass(frozen=True, eq=False)
class Tiling:
    """The kernel bounds `program * step + lane` by `bound` in the mask of `access`; there are `width` lanes.

    With NO_AXIS it bounds the lanes by themselves: all programs do the same tile.
    """

    access: Access
    axis: int
    bound: Affine
    step: Affine
    width: Affine


@dataclass(frozen=True, eq=False)
class Short:
    """A launch of `programs` along the axis that does `covered` of `bound`, each program `step` of it."""

    tiling: Tiling
    site: LaunchSite
    programs: int
    bound: int
    step: int
    covered: int


Answer = Proven | Refuted[Short] | Unknown
_Put = Mapping[Atom, Affine]


def tilings(accesses: Sequence[Access]) -> Iterator[Tiling]:
    """What the masks of a kernel say of how it splits sizes among its programs."""
    seen: set[tuple[int, Affine, Affine]] = set()
    for access in accesses:
        for condition in access.comparisons:
            found = _tiling(access, condition)
            if found is not None and (key := (found.axis, found.bound, found.step)) not in seen:
                seen.add(key)
                yield found


def short_axes(flow: KernelFlow) -> Iterator[Refuted[Short]]:
    """The first launch, for each call and axis, that leaves something over whichever mask is asked."""
    split = list(tilings(flow.accesses)) if flow.launches.launches else []
    seen: set[tuple[int, int]] = set()
    for axis in sorted({tiling.axis for tiling in split}):
        mine = [tiling for tiling in split if tiling.axis == axis]
        for site in flow.launches.sites:
            answers = [covers(flow.launches.host, site, tiling, split) for tiling in mine]
            refuted = [answer for answer in answers if isinstance(answer, Refuted)]
            if len(refuted) == len(answers) and (id(site.call), axis) not in seen:
                seen.add((id(site.call), axis))
                yield refuted[0]


def single_tilings(accesses: Sequence[Access]) -> Iterator[Tiling]:
    """Those of lanes that no program or round moves on, of what no other mask bounds."""
    found: dict[Affine, list[Tiling | None]] = {}
    for access in accesses:
        for condition in access.comparisons:
            bound, tiling = _single(access, condition)
            found.setdefault(bound, []).append(tiling)
    for tilings_of in found.values():
        if (first := tilings_of[0]) is not None and all(
            one is not None and one.width == first.width for one in tilings_of
        ):
            yield first


def _single(access: Access, condition: Less) -> tuple[Affine, Tiling | None]:
    """What is bounded there, and the lanes, where it bounds lanes and nothing else by what the launch gives."""
    index = bounded_index(condition)
    bound = condition.gap + index + (ZERO if condition.strict else ONE)
    lane = next(iter(index.lanes()), None)
    if lane is None or lane.size is None or lane.start != ZERO or index != Affine.of(lane):
        return bound, None
    if not all(map(is_given, (bound, lane.size))) or bound.value is not None:
        return bound, None
    return bound, Tiling(access, NO_AXIS, bound, lane.size, lane.size)


def _tiling(access: Access, condition: Less) -> Tiling | None:
    index = bounded_index(condition)
    bound = condition.gap + index + (ZERO if condition.strict else ONE)
    lanes, programs = list(index.lanes()), [atom for atom in set(index.atoms()) if atom.kind is AtomKind.PID]
    if len(lanes) != 1 or len(programs) != 1 or programs[0].grid_axis is None or lanes[0].size is None:
        return None
    step, first = index.factor_of(programs[0]), Affine.constant(index.terms.get((), 0))
    if index != Affine.of(programs[0]) * step + Affine.of(lanes[0]) + first or lanes[0].start != ZERO:
        return None
    if not all(map(is_given, (bound, step, lanes[0].size))) or bound.value is not None:
        return None
    return Tiling(access, programs[0].grid_axis, bound - first, step, lanes[0].size)


def is_given(value: Affine) -> bool:
    """Whether a launch decides it."""
    return all(atom.kind in GIVEN or atom.inner for atom in value.atoms_inside())


def covers(host: Host, site: LaunchSite, tiling: Tiling, others: Sequence[Tiling] = ()) -> Answer:
    """Whether the launch has programs for all that the tiling bounds; `others` are the kernel's on other axes."""
    programs = _programs(site, tiling)
    parts = [_of_launch(site, value) for value in (tiling.bound, tiling.step, tiling.width)]
    bound, step, width = parts
    if programs is None or bound is None or step is None or width is None:
        return Unknown("the grid, or what the launch passes for a size of the kernel, is not known")
    if width != step:
        return Unknown("a program does several tiles, or tiles overlap")
    try:
        left = bound - site.arithmetic.times(programs, step)
        answers = [_under(host, site, tiling, left, put, others) for put in _chosen(site, left)]
    except TooLarge:
        return Unknown("its sizes are products of too many numbers")
    refuted = [answer for answer in answers if isinstance(answer, Refuted)]
    unknown = [answer for answer in answers if isinstance(answer, Unknown)]
    return refuted[0] if refuted else unknown[0] if unknown else Proven()


def _programs(site: LaunchSite, tiling: Tiling) -> Affine | None:
    """How many programs there are along the tiling's axis."""
    return ONE if tiling.axis == NO_AXIS else site.axis(tiling.axis)


def _of_launch(site: LaunchSite, value: Affine) -> Affine | None:
    """What a size of the kernel is in the host code."""
    missing: list[str] = []

    def passed(atom: Atom) -> Affine | None:
        if atom.kind not in GIVEN:
            return None
        found = site.argument(atom.name)
        if found is None:
            missing.append(atom.name)
        return found or ZERO

    try:
        result = site.arithmetic.put_in(value, passed)
    except TooLarge:
        return None
    return None if missing else result


def _chosen(site: LaunchSite, left: Affine) -> list[_Put]:
    """What the configs give for the constants that matter; nothing, where none does."""
    atoms = left.atoms_inside()
    found: dict[tuple[tuple[int, Affine], ...], _Put] = {}
    for config in site.configs:
        put = {atom: value for atom, value in site.chosen(config).items() if atom in atoms}
        found[tuple(sorted(((atom.id, value) for atom, value in put.items()), key=lambda pair: pair[0]))] = put
    return list(islice(found.values(), _MOST_CONFIGS)) or [{}]


def _under(host: Host, site: LaunchSite, tiling: Tiling, left: Affine, put: _Put, others: Sequence[Tiling]) -> Answer:
    """The answer for one config."""
    facts = site.facts()
    left = facts.normal(site.arithmetic.put_in(left, put.get))
    if is_at_most_zero(facts, left):
        return Proven()
    doubt = _doubt(site, tiling, facts, put, others)
    return _refuted(host, site, tiling, facts, left, put) if doubt is None else Unknown(doubt)


def _doubt(site: LaunchSite, tiling: Tiling, facts: Facts, put: _Put, others: Sequence[Tiling]) -> str | None:
    """Why sizes at which the grid is too short would say nothing; None where they would."""
    if site.doubt or not site.is_whole:
        return site.doubt or "it passes more than its text shows"
    bound, programs = _of_launch(site, tiling.bound) or ZERO, _programs(site, tiling) or ZERO
    step = _of_launch(site, tiling.step) or ZERO
    wanted, given = (facts.normal(site.arithmetic.put_in(value, put.get)) for value in (bound, programs))
    ends, divided = _inputs(wanted), _inputs(given)
    unknown = [atom for atom in ends | divided if atom.kind is not AtomKind.PARAM]
    if unknown:
        return f"`{unknown[0].name}` cannot be chosen"
    if tiling.axis == NO_AXIS:
        width = _inputs(facts.normal(site.arithmetic.put_in(step, put.get)))
        return None if width and width <= ends else "the tile does not follow from the size"
    if ends <= divided <= ends | _inputs(step) and ends:
        return None
    tensors = {atom.name.partition(_SHAPE)[0] if _SHAPE in atom.name else None for atom in ends | divided}
    if len(tensors) == 1 and None not in tensors:
        return None
    bounds = [_of_launch(site, other.bound) for other in others if other.axis != tiling.axis]
    if divided and any(one is not None and _inputs(facts.normal(one)) == divided for one in bounds):
        return None
    return f"nothing says how `{wanted}` and the grid's `{given}` belong together"


def _inputs(value: Affine) -> set[Atom]:
    return {atom for atom in value.atoms_inside() if not atom.inner}


def _refuted(host: Host, site: LaunchSite, tiling: Tiling, facts: Facts, left: Affine, put: _Put) -> Answer:
    """Numbers that leave something over, put through the host code."""
    atoms = sorted(_inputs(left), key=lambda atom: atom.id)
    if len(atoms) > _MOST_UNKNOWNS:
        return Unknown(f"it depends on {len(atoms)} sizes")
    replayed, reason = 0, "no sizes that were tried leave anything over"
    for sizes in islice(_tried(atoms, left, put), _MOST_TRIED):
        value = site.arithmetic.put_in(left, {atom: Affine.constant(size) for atom, size in sizes.items()}.get).value
        if value is None or value <= 0:
            continue
        named = {atom.name: size for atom, size in facts.with_equals(sizes).items()}
        launched = host.replay(site, named)
        if isinstance(launched, LaunchSite):
            shown = _shown(launched, tiling, put)
            if shown is not None and shown.covered < shown.bound:
                return Refuted(named, shown)
        elif isinstance(launched, NotKnown):
            return Unknown(launched.reason)
        reason = launched.reason if isinstance(launched, Raised) else "the grid is not known with numbers"
        replayed += 1
        if replayed >= _MOST_REPLAYED:
            break
    return Unknown(reason)


def _tried(atoms: Sequence[Atom], left: Affine, put: _Put) -> Iterator[dict[Atom, int]]:
    """Sizes around the numbers that divide them, one more first, and usual ones."""
    numbers = {value.value for value in put.values()} | {
        part.value for atom in left.atoms_inside() for part in atom.inner
    }
    divisors = sorted(n for n in numbers if n is not None and 1 < n < 1 << 20)
    near = [size + by for size in divisors for by in (1, -1)] + [2 * size + 2 for size in divisors]  # of halves
    tried = list(dict.fromkeys([*near, *_SIZES]))
    if len(atoms) == 1:
        yield from ({atoms[0]: size} for size in tried)
        return
    fewer = tried[: 24 if len(atoms) == 2 else 8 if len(atoms) == 3 else 5]
    for sizes in product(fewer, repeat=len(atoms)):
        yield dict(zip(atoms, sizes, strict=True))


def _shown(site: LaunchSite, tiling: Tiling, put: _Put) -> Short | None:
    """The launch in numbers; None where one of them is not known."""
    values = [_programs(site, tiling), *(_of_launch(site, value) for value in (tiling.bound, tiling.step))]
    numbers = [None if value is None else site.arithmetic.put_in(value, put.get).value for value in values]
    programs, bound, step = numbers
    if programs is None or bound is None or step is None or programs < 0:
        return None
    return Short(tiling, site, programs, bound, step, programs * step)
