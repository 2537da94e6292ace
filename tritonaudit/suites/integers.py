"""What small tensors of integers hold in a case whose tensors have no memory. Imports torch: for workers.

Indices, targets and offsets decide where a kernel goes: without them little of it can be followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.subject.given import GivenTensor
from tritonaudit.subject.inputs import Arguments, as_given, make_argument, make_inputs, seed, specs_of, tensors_in
from tritonaudit.subject.model import INTEGER, Case, Offsets, Subject, Tensor
from tritonaudit.subject.sweep import compile_cases
from tritonaudit.subject.varying import cut

LARGEST = 1 << 24
"""Elements."""

Contents = Mapping[int, torch.Tensor]
"""By the identity of a storage without memory, a tensor that has what it should hold."""


def contents_of(subject: Subject, case: Case, arguments: Arguments) -> Contents:
    """Of the small ones among the arguments of a case."""
    found = dict(_given_contents(subject, case, arguments))
    for spec, hollow in zip(specs_of(subject), tensors_in(arguments), strict=False):
        is_integers = isinstance(spec, Offsets) or (isinstance(spec, Tensor) and spec.dtype in INTEGER)
        if is_integers and hollow.is_meta and hollow.numel() <= LARGEST:
            with tensors_on(Host.CPU):
                made = make_argument(subject, case, spec)
            found[identity(hollow)] = made
    return found


def _given_contents(subject: Subject, case: Case, arguments: Arguments) -> Iterator[tuple[int, torch.Tensor]]:
    """Of those that a function gives: the values given, again and again where there are to be more."""
    given = subject.given
    if given is None or not given.sizes:
        yield from _named_contents(subject, case, arguments)
        return
    if given.elements() > LARGEST:
        return
    with tensors_on(Host.CPU):
        seed(case)
        whole = as_given(subject, replace(case, sizes={}))
    full = {**given.sizes, **case.sizes}
    for facts, tensor, hollow in zip(given.tensors, tensors_in(whole), tensors_in(arguments), strict=True):
        if facts.dtype in INTEGER and hollow.is_meta and hollow.numel() <= LARGEST:
            yield identity(hollow), cut(facts, full, tensor)


def _named_contents(subject: Subject, case: Case, arguments: Arguments) -> Iterator[tuple[int, torch.Tensor]]:
    """The same where the function is asked for sizes: what it gives for usual ones, spread over what has grown.

    Of integers that ascend, as offsets do, there cannot be more.
    """
    if not callable(subject.inputs) or not (usual := compile_cases(subject)[0].sizes):
        return
    try:
        with tensors_on(Host.CPU):
            made = make_inputs(subject, replace(case, sizes=usual))
    except Exception:  # its other cases show it
        return
    for tensor, hollow in zip(_spread(subject, case, usual, made), tensors_in(arguments), strict=True):
        is_integers = str(tensor.dtype).removeprefix("torch.") in INTEGER and tensor.numel() > 0
        is_small = hollow.is_meta and hollow.numel() <= LARGEST and hollow.dim() == tensor.dim()
        if is_integers and is_small and (tensor.shape == hollow.shape or not _ascends(tensor)):
            yield identity(hollow), cut(GivenTensor(tuple(hollow.shape), ""), {}, tensor)


def _spread(subject: Subject, case: Case, usual: Mapping[str, int], made: Arguments) -> Sequence[torch.Tensor]:
    """The tensors, of which integers that go up to a size that has grown go as far as that; their order stays."""
    tensors = list(tensors_in(made))
    for name, size in usual.items():
        if not 1 < size < case.sizes.get(name, size):
            continue
        try:
            with tensors_on(Host.CPU):
                others = make_inputs(subject, replace(case, sizes={**usual, name: 2 * size}))
        except Exception:  # it takes no such size
            continue
        for place, (one, other) in enumerate(zip(tensors, tensors_in(others), strict=True)):
            most = _most(one)
            if size // 2 < most <= size < _most(other) <= 2 * size:
                last = case.sizes[name] - (most < size)
                tensors[place] = torch.where(one > 0, one.long() * last // most, one.long()).to(one.dtype)
    return tensors


def _most(tensor: torch.Tensor) -> int:
    """The largest of integers; 0 of others, and of none."""
    is_integers = str(tensor.dtype).removeprefix("torch.") in INTEGER
    return int(tensor.max()) if is_integers and tensor.numel() else 0


def _ascends(tensor: torch.Tensor) -> bool:
    return tensor.dim() > 0 and tensor.shape[-1] > 1 and bool((tensor[..., 1:] >= tensor[..., :-1]).all())


def filled(value: Any, contents: Contents) -> Any:
    """An argument of a launch, with memory where it is known what it holds."""
    if not isinstance(value, torch.Tensor) or (made := contents.get(identity(value))) is None:
        return value
    if value.dtype != made.dtype:
        return value
    return made.as_strided(value.shape, value.stride(), value.storage_offset())


def identity(tensor: torch.Tensor) -> int:
    """That of its storage."""
    return int(tensor.untyped_storage()._cdata)
