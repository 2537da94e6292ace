"""Makes the inputs of a case in which elements lie far apart: tensors without memory. Imports torch: for workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import torch

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.subject.inputs import Arguments, make_inputs, tensors_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.subject.varying import each_tensor
from tritonaudit.suites.far import LEAST, other_sizes
from tritonaudit.suites.integers import Contents, contents_of, identity
from tritonaudit.suites.large import ELEMENTS

_ALIGNED = 16
"""What strides of large tensors are multiples of."""


_MOST = 1 << 36
"""Elements from the first to the last: a GPU has memory for so many, of which most are beyond 32 bits then."""


class NothingFar(ValueError):
    """No tensor can lie so."""


def far_inputs(subject: Subject, case: Case) -> tuple[Arguments, Contents]:
    """The arguments, and what their integers hold, which stay together. Raises NothingFar."""
    plain = replace(case, far="")
    if (given := subject.given) is not None and given.sizes:
        made = make_inputs(subject, plain)
        contents = dict(contents_of(subject, plain, made))
        dims = [tensor.dims for tensor in given.tensors]
        along: Sequence[int | None] = [one.index(case.far) if case.far in one else None for one in dims]
    else:
        contents = {}
        here = replace(plain, device="cpu")
        with tensors_on(Host.CPU):
            made = make_inputs(subject, here)
            along = _along(subject, here, case.far, made)
    strides = [_strides(tensor, axis) for tensor, axis in zip(tensors_in(made), along, strict=True)]
    if not any(strides):
        raise NothingFar(f"no tensor has elements that can lie far apart along {case.far}")

    def hollow(number: int, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_meta and strides[number] is None:
            return tensor
        lying = strides[number] or tensor.contiguous().stride()
        found = torch.empty_strided(tuple(tensor.shape), lying, dtype=tensor.dtype, device="meta")
        if not _may_lie(tensor) and not tensor.is_meta:
            contents[identity(found)] = tensor.detach().contiguous().clone()
        return found.requires_grad_() if tensor.requires_grad else found

    arguments: Arguments = each_tensor(made, hollow)
    return arguments, contents


def _along(subject: Subject, case: Case, name: str, made: Arguments) -> Sequence[int | None]:
    """Of each tensor the first axis of another size where the dimension has another."""
    shapes = [tuple(tensor.shape) for tensor in tensors_in(made)]
    for size in other_sizes(subject, replace(case, far=name)):
        try:
            others = make_inputs(subject, replace(case, sizes={**case.sizes, name: size}))
        except Exception:  # the function for the inputs does not take it
            continue
        pairs = zip(shapes, tensors_in(others), strict=True)
        return [_first_other(shape, tuple(other.shape)) for shape, other in pairs]
    return [None] * len(shapes)


def _first_other(one: tuple[int, ...], other: tuple[int, ...]) -> int | None:
    return next((axis for axis, sizes in enumerate(zip(one, other, strict=False)) if sizes[0] != sizes[1]), None)


def _may_lie(tensor: torch.Tensor) -> bool:
    """Whether it is one of numbers: integers decide where a kernel goes, and have to be somewhere."""
    return bool(tensor.is_floating_point() or tensor.is_complex())


def _strides(tensor: torch.Tensor, axis: int | None) -> tuple[int, ...] | None:
    """Those with which its last element along the axis is beyond 32 bits, and each stride is not; None for none."""
    if axis is None or tensor.shape[axis] < LEAST or not tensor.is_contiguous() or not _may_lie(tensor):
        return None
    within = [1 if one == axis else size for one, size in enumerate(tensor.shape)]
    packed = [prod(within[one + 1 :]) for one in range(len(within))]
    count = tensor.shape[axis] - 1
    apart = max(-(-ELEMENTS // count), min(ELEMENTS // (LEAST - 1), _MOST // count), prod(within))
    packed[axis] = -(-apart // _ALIGNED) * _ALIGNED
    return tuple(packed) if packed[axis] < ELEMENTS and prod(within) else None
