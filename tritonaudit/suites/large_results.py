"""Cases in which it is a result that has more elements than an int32 counts. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import ceil

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.subject.dimension import names_in
from tritonaudit.subject.inputs import make_inputs
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites.axes import axes_of
from tritonaudit.suites.large import BESIDE, ELEMENTS, may_grow
from tritonaudit.suites.late import elements
from tritonaudit.suites.references import results_of_reference

_SECONDS = 3.0
"""What calls without memory may take."""
_MOST_WITH_MEMORY = 1 << 22
"""About how many elements the dimensions span of what is called with memory."""
_TIMES = 4
"""So many times more elements than it takes, where indices lead to a result's rows: most of them are far up."""
_SMALL = (64, 128)
"""Sizes that are asked for: one that goes through a dimension step by step would not come to the end of large ones."""


def with_large_results(subject: Subject, cases: Iterable[Case]) -> Iterator[Case]:
    """For each contiguous one of these cases, in which a tensor that is given is so large, one in which a result is.

    And one for each size that is given as a number and that no tensor has. How many elements results have is taken to
    be linear in a dimension. There is no case where a result is so large already, where none grows, and where the
    reference does not tell of small ones, or not soon.
    """
    plain = [one for one in cases if one.layout is Layout.CONTIGUOUS and one.sizes]
    largest = [(max(one.sizes, key=lambda name: one.sizes[name]), one, ELEMENTS) for one in plain]
    for name, case, wanted in (*largest, *_with_numbers(subject)):
        try:
            with time_limit(_SECONDS):
                few, more = (_elements(subject, _sized(case, name, size)) for size in _SMALL)
        except OutOfTime:
            return
        each = (more - few) / (_SMALL[1] - _SMALL[0])
        missing = wanted - (few + each * (case.sizes[name] - _SMALL[0]))
        if each > 0 and missing > 0:
            yield _sized(case, name, case.sizes[name] + ceil(missing / each) + BESIDE)


def _with_numbers(subject: Subject) -> Iterator[tuple[str, Case, int]]:
    """The sizes that no tensor has and that may grow, each with an ordinary case, and the elements that are wanted."""
    if callable(subject.inputs):
        return
    ordinary = {axis.name: int(axis.ordinary) for axis in axes_of(subject, ()).sizes}
    held = {name for tensor in subject.tensors for dim in tensor.dims for name in names_in(dim)}
    offsets = {name for one in subject.offsets for name in names_in(one.parts)}
    for name in ordinary:
        if name not in held | offsets and may_grow(subject, name):
            yield name, Case(ordinary, subject.dtypes[0]), _TIMES * ELEMENTS


def _sized(case: Case, name: str, size: int) -> Case:
    return replace(case, sizes={**case.sizes, name: size})


def _elements(subject: Subject, case: Case) -> int:
    """How many the largest result of the reference has, without memory or else with it; 0 where that is not known."""
    if subject.reference is None:
        return 0
    hosts = (Host.META, Host.CPU) if elements(case) <= _MOST_WITH_MEMORY else (Host.META,)
    for host in hosts:
        with suppress(Exception), tensors_on(host):  # it may ask for numbers that are not there
            results = results_of_reference(subject, make_inputs(subject, case), case)
            return max((tensor.numel() for tensor in results), default=0)
    return 0
