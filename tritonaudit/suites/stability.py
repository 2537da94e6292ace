"""Inputs on which numerics break that look right on ordinary ones, and what a subject makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from tritonaudit.subject.given import OF_TENSOR
from tritonaudit.subject.model import FLOATING, Case, Subject
from tritonaudit.suites.axes import QUICK, Axes, Axis, axes_of, has_infinity, largest, shrunk
from tritonaudit.suites.facts import MASKED_ALONE, NEAR_THE_LARGEST, Symptom
from tritonaudit.suites.limits import can_be_made
from tritonaudit.suites.outcome import CaseOutcome, Sighting

if TYPE_CHECKING:
    from tritonaudit.suites.calling import Device

_LONG, _LONGER, _FEW = 1000, 4096, 16
_MASKS = ("-inf|normal", "-inf/normal")
"""The first half of each row, and of all rows."""
_NARROW, _LARGE, _LARGEST = "float16", "256*normal", "20000*normal"
"""What has the smallest range; two such numbers, and three of the larger ones, leave it."""
_OPPOSITE = "3000|-3000"
"""Sums of dozens of such numbers leave it on the way to one that does not."""
_SMALL = "1e-6*normal"
"""Numbers such as scales have, whose products, and bits, a narrower type loses."""
_FAR = "100*normal"
"""Numbers far from those of the others: what is exponential in their distance is 0, unless the largest is taken off."""
_MOST_ALONE = 6
"""Tensors of which each has such numbers alone."""
NUMERIC = frozenset((Symptom.WRONG_RESULT, Symptom.NEW_NON_FINITE, Symptom.WRONG_AT_BOUNDARY))


@dataclass(frozen=True)
class Hardship:
    """A fill that is hard on some way of computing, which `name` says; the numbers in it reach up to `largest`."""

    name: str
    fill: str
    largest: float


HARDSHIPS = (
    Hardship("exp overflow", "100,200,300", 300.0),
    Hardship("exp underflow", "-100,-200,-300", 300.0),
    Hardship("product overflow", "2", 2.0),
    Hardship("small products", "0.5", 0.5),
    Hardship("cancellation", "10000000000,10000000001", 1e10 + 1),
    Hardship("cancellation in 16 bits", "1000,1001", 1001.0),
    Hardship("alternating sums", "1e8,-1e8,1", 1e8),
    Hardship("alternating sums in 16 bits", "10000,-10000,1", 1e4),
    Hardship("rows wholly masked", "-inf rows", 0.0),
    Hardship("rows of zeros", "0 rows", 0.0),
    Hardship("ties", "3", 3.0),
    Hardship("large decay", "-10000", 1e4),
    Hardship("a large mean", "1000+normal", 1e3),
    Hardship("large before small", "100|-100", 100.0),
    Hardship("small before large", "-100|100", 100.0),
    Hardship("masked at the beginning of rows", "-inf|1", 1.0),
    Hardship("masked at the end of rows", "1|-inf", 1.0),
)


def can_hold(dtype: str, hardship: Hardship) -> bool:
    """Whether tensors of a dtype can hold the numbers of a hardship."""
    return hardship.largest <= largest(dtype) and (has_infinity(dtype) or "inf" not in hardship.fill)


def stability_cases(subject: Subject, blocks: Sequence[int] = ()) -> Iterator[tuple[str, Case]]:
    """The hardships by name, in rows of a thousand and of two of the blocks.

    First each with the first dtype that can hold it, then with the others, then with other dimensions as long as rows.

    Where a function makes the inputs they are of its sizes, or of quick ones, and there are those only that do not
    leave the range of what it gives; none where that is not known, or where no tensor holds such numbers.
    """
    if why_none(subject):
        return
    if callable(subject.inputs):
        yield from _given_cases(subject, blocks)
        return
    longest, *others = _all_sizes(subject, axes_of(subject, blocks), max([_LONG, *(2 * block for block in blocks)]))
    holders = {one: [dtype for dtype in subject.dtypes if can_hold(dtype, one)] for one in HARDSHIPS}
    for together in zip_longest(*holders.values()):
        for hardship, dtype in zip(HARDSHIPS, together, strict=True):
            if dtype:
                yield hardship.name, Case(longest, dtype, fill=hardship.fill)
    for sizes in others:
        for hardship, dtypes in holders.items():
            if dtypes:
                yield hardship.name, Case(sizes, dtypes[0], fill=hardship.fill)


def _given_cases(subject: Subject, blocks: Sequence[int]) -> Iterator[tuple[str, Case]]:
    if (given := subject.given) is None or given.heeds_fills:
        return
    axes = axes_of(subject, blocks)
    ordinary = {axis.name: int(axis.ordinary) for axis in axes.sizes}
    sizes = {name: size for name, size in ordinary.items() if axes.given.get(name) != size}
    for hardship in HARDSHIPS:
        dtype = next((dtype for dtype in subject.dtypes if can_hold(dtype, hardship)), None)
        if dtype and given.takes(hardship.fill):
            yield hardship.name, Case(sizes, dtype, fill=hardship.fill)


def seldom_cases(subject: Subject, blocks: Sequence[int] = ()) -> Iterator[tuple[str, Case]]:
    """Cases that few callers have and a kernel should stand, beside the hardships. None where a function makes inputs.

    One tensor alone begins with a block of -inf, along its rows or its columns, as a mask does. In float16 products are
    as large as its numbers get, so that some of their sums are numbers of it and their parts are not, or one tensor's,
    all of them or those whose halves have opposite signs. And the numbers of one tensor are as small as scales may be.
    """
    if callable(subject.inputs):
        return
    sizes = _longest(subject, axes_of(subject, blocks))
    tensors = [(number, one) for number, one in enumerate(subject.tensors) if one.dims][:_MOST_ALONE]
    masks = [(number, one, part) for number, one in tensors for part in _MASKS[: len(one.dims)]]
    for number, tensor, part in masks:
        masked = Hardship("a block masked in one tensor", f"{part}{OF_TENSOR}{number}", 0.0)
        dtypes = [one for one in subject.dtypes if (tensor.dtype or one) in FLOATING]
        dtype = next((one for one in dtypes if can_hold(tensor.dtype or one, masked)), None)
        if dtype:
            yield masked.name, Case(sizes, dtype, fill=masked.fill)
    for number, tensor in tensors if len(tensors) > 1 else ():
        if (tensor.dtype or subject.dtypes[0]) in FLOATING:
            yield "one small tensor", Case(sizes, subject.dtypes[0], fill=f"{_SMALL}{OF_TENSOR}{number}")
            yield "one tensor far from the others", Case(sizes, subject.dtypes[0], fill=f"{_FAR}{OF_TENSOR}{number}")
    narrow = [number for number, one in tensors if not one.dtype]
    if _NARROW in subject.dtypes and narrow:
        yield "large products", Case(sizes, _NARROW, fill=_LARGE)
        for number in narrow:
            yield "one large tensor", Case(sizes, _NARROW, fill=f"{_LARGEST}{OF_TENSOR}{number}")
            if len(tensors) > 1:
                yield (
                    "one large tensor of opposite halves",
                    Case(sizes, _NARROW, fill=f"{_OPPOSITE}{OF_TENSOR}{number}"),
                )


def why_none(subject: Subject) -> str:
    """Why no hardship applies to a subject, whatever its cases; nothing where some may."""
    given = subject.given
    tensors = given.tensors if given is not None else subject.tensors
    dtypes = {tensor.dtype or dtype for tensor in tensors for dtype in subject.dtypes}
    return "no tensor holds floating-point numbers" if dtypes and dtypes.isdisjoint(FLOATING) else ""


def hardships_on(name: str, cases: Iterable[Case]) -> Iterator[Case]:
    """Those of these cases whose dtype can hold the numbers of a hardship, with these."""
    for hardship in HARDSHIPS:
        if hardship.name == name:
            yield from (replace(case, fill=hardship.fill) for case in cases if can_hold(case.dtype, hardship))


def long_case(subject: Subject, blocks: Sequence[int] = ()) -> Case | None:
    """An ordinary case in rows so long that blocks hardly grow any more; None where a function makes the inputs."""
    if callable(subject.inputs):
        return None
    return Case(_all_sizes(subject, axes_of(subject, blocks), _LONGER)[0], subject.dtypes[0])


def _all_sizes(subject: Subject, axes: Axes, least: int) -> Sequence[dict[str, int]]:
    """Ordinary sizes, but of one dimension that may have so many the least number from there on: of the last one first.

    Beside it the first dimension is small, which few functions sum over.
    """
    sizes = {axis.name: int(axis.ordinary) for axis in axes.sizes}
    found = []
    for axis in reversed(axes.sizes):
        beside = {one.name: few for one in axes.sizes[:1] if one is not axis and (few := _few(one))}
        for size in sorted(int(value) for value in axis.values if int(value) >= least):
            chosen = {**sizes, **beside, axis.name: size}
            if axes.limits.allow(chosen) and can_be_made(subject, chosen):
                found.append(chosen)
                break
    return found or [sizes]


def _longest(subject: Subject, axes: Axes) -> dict[str, int]:
    """The largest sizes that the subject names, as far as that is quick, and rows of a thousand where it names none."""
    sizes = _all_sizes(subject, axes, _LONG)[0]
    named = {axis.name: max(map(int, axis.values)) for axis in axes.sizes if axis.name in subject.sizes}
    longest = shrunk({**sizes, **named}, {axis.name: axis.smaller for axis in axes.sizes}, axes.limits, share=QUICK)
    return longest if can_be_made(subject, longest) else sizes


def _few(axis: Axis) -> int | None:
    return next((size for size in axis.smaller if size <= _FEW), None)


def is_wrong_on_normal_numbers(outcome: CaseOutcome) -> bool:
    """Whether results are wrong for certain without any hardship, so that hardships would show nothing more."""
    return outcome.case.fill == Case().fill and any(
        sighting.is_certain and sighting.symptom in NUMERIC for sighting in outcome.sightings
    )


def endure(device: Device, subject: Subject, case: Case) -> CaseOutcome:
    """Try a hardship: an error beyond what the conditioning of the problem explains is instability."""
    from tritonaudit.suites.correctness import examine

    outcome = examine(device, subject, case)
    sightings = tuple(replace(one, symptom=Symptom.UNSTABLE) for one in outcome.sightings if one.symptom in NUMERIC)
    if why := _why_seldom(case):
        sightings = tuple(_doubted(one, why) for one in sightings)
    checked = frozenset((Symptom.UNSTABLE,)) if outcome.checked & NUMERIC else frozenset[Symptom]()
    unchecked = tuple((Symptom.UNSTABLE, reason) for symptom, reason in outcome.unchecked if symptom in NUMERIC)[:1]
    return replace(outcome, checked=checked, sightings=sightings, unchecked=unchecked)


def _why_seldom(case: Case) -> str:
    """What few callers' inputs have of those of a case; empty of one that is no such case."""
    fill, _, _ = case.fill.partition(OF_TENSOR)
    if fill in (_LARGE, _LARGEST, _OPPOSITE):
        return NEAR_THE_LARGEST
    return MASKED_ALONE if fill in _MASKS else ""


def _doubted(sighting: Sighting, why: str) -> Sighting:
    if not sighting.is_certain:
        return sighting
    return replace(sighting, text=f"{sighting.text}, {why}", is_certain=False)
