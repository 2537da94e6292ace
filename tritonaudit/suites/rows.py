"""Arguments that are parts of others along a dimension, and where results have that dimension. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from tritonaudit.subject.dimension import names_in, size_of
from tritonaudit.subject.inputs import Arguments
from tritonaudit.subject.model import Offsets, Size, Subject, Tensor

Pick = Callable[[torch.Tensor, int], torch.Tensor]
"""Takes of a tensor what is wanted of it along an axis."""


class NotSplit(Exception):
    """Why arguments have no parts along a dimension."""


def why_not_split(subject: Subject, dim: str) -> str:
    """Why the arguments cannot be taken apart along a dimension of that name; nothing where they can."""
    if callable(subject.inputs):
        return "a function makes the inputs"
    if not any(dim in tensor.dims for tensor in subject.tensors):
        return f"no tensor has `{dim}` for a dimension"
    for tensor in subject.tensors:
        if list(map(str, tensor.dims)).count(dim) > 1:
            return f"a tensor has `{dim}` twice"
        if any(dim in names_in(one) and one != dim for one in tensor.dims):
            return f"a tensor has a multiple of `{dim}`"
        if dim in (*names_in(tensor.low), *names_in(tensor.high)):
            return f"a tensor has integers up to `{dim}`"
    if any(dim in (*names_in(one.parts), *names_in(one.total)) for one in subject.offsets):
        return f"offsets count `{dim}`"
    return ""


def picked(subject: Subject, given: Arguments, dim: str, sizes: Mapping[str, int], pick: Pick) -> Arguments:
    """The arguments with what is picked of each tensor along the dimension, whose size is then among the `sizes`."""
    assert not callable(subject.inputs)

    def of(spec: Any, value: Any) -> Any:
        if isinstance(spec, Tensor):
            return _like(value, pick(value.detach(), spec.dims.index(dim))) if dim in spec.dims else _fresh(value)
        if isinstance(spec, Size):
            return size_of(spec.dim, sizes)
        if isinstance(spec, Offsets):
            return _fresh(value)
        if isinstance(spec, Mapping):
            return {key: of(member, value[key]) for key, member in spec.items()}
        if isinstance(spec, (list, tuple)):
            return type(value)(of(member, one) for member, one in zip(spec, value, strict=True))
        return value

    positional = tuple(of(spec, value) for spec, value in zip(subject.inputs, given[0], strict=True))
    return positional, {name: of(spec, given[1][name]) for name, spec in subject.keywords.items()}


def _like(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    made = new.contiguous().clone()
    return made.requires_grad_() if old.requires_grad else made


def _fresh(value: Any) -> Any:
    return _like(value, value.detach()) if isinstance(value, torch.Tensor) else value


def axis_of(whole: Sequence[int], part: Sequence[int], sizes: tuple[int, int]) -> int | None:
    """The axis along which a result of that shape has the whole size, where that of a part has the part's."""
    if len(whole) != len(part):
        return None
    axes = [axis for axis, (one, other) in enumerate(zip(whole, part, strict=True)) if one != other]
    return axes[0] if len(axes) == 1 and (whole[axes[0]], part[axes[0]]) == sizes else None
