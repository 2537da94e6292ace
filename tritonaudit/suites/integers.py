"""What small tensors of integers hold in a case whose tensors have no memory. Imports torch: for workers.

Indices, targets and offsets decide where a kernel goes: without them little of it can be followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.subject.inputs import Arguments, as_given, make_argument, seed, specs_of, tensors_in
from tritonaudit.subject.model import INTEGER, Case, Offsets, Subject, Tensor
from tritonaudit.subject.varying import cut

_MOST = 1 << 24
"""Elements."""

Contents = Mapping[int, torch.Tensor]
"""By the identity of a storage without memory, a tensor that has what it should hold."""


def contents_of(subject: Subject, case: Case, arguments: Arguments) -> Contents:
    """Of the small ones among the arguments of a case."""
    found = dict(_given_contents(subject, case, arguments))
    for spec, hollow in zip(specs_of(subject), tensors_in(arguments), strict=False):
        is_integers = isinstance(spec, Offsets) or (isinstance(spec, Tensor) and spec.dtype in INTEGER)
        if is_integers and hollow.is_meta and hollow.numel() <= _MOST:
            with tensors_on(Host.CPU):
                made = make_argument(subject, case, spec)
            found[_identity(hollow)] = made
    return found


def _given_contents(subject: Subject, case: Case, arguments: Arguments) -> Iterator[tuple[int, torch.Tensor]]:
    """Of those that a function gives: the values given, again and again where there are to be more."""
    given = subject.given
    if given is None or not given.sizes or given.elements() > _MOST:
        return
    with tensors_on(Host.CPU):
        seed(case)
        whole = as_given(subject, replace(case, sizes={}))
    full = {**given.sizes, **case.sizes}
    for facts, tensor, hollow in zip(given.tensors, tensors_in(whole), tensors_in(arguments), strict=True):
        if facts.dtype in INTEGER and hollow.is_meta and hollow.numel() <= _MOST:
            yield _identity(hollow), cut(facts, full, tensor)


def filled(value: Any, contents: Contents) -> Any:
    """An argument of a launch, with memory where it is known what it holds."""
    if not isinstance(value, torch.Tensor) or (made := contents.get(_identity(value))) is None:
        return value
    if value.dtype != made.dtype:
        return value
    return made.as_strided(value.shape, value.stride(), value.storage_offset())


def _identity(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
