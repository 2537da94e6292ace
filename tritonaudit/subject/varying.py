"""Varies tensors that were given: their values, how they lie in memory, and their sizes. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from tritonaudit.subject.dimension import size_of
from tritonaudit.subject.filling import Turn, among, filled, in_runs, laid_out, turns
from tritonaudit.subject.given import INTEGERS, REACHING, REARRANGED, RUNS, SCALED, Given, GivenTensor, special_of
from tritonaudit.subject.model import Case, Layout

_LEVELS = 4
"""Steps between the least and the largest value where many are to be equal."""


def each_tensor(value: Any, change: Callable[[int, torch.Tensor], torch.Tensor]) -> Any:
    """The same with its tensors changed, each by its number among them; one that is there twice stays one."""
    known: dict[int, torch.Tensor] = {}
    numbers = iter(range(1 << 30))

    def one(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            number = next(numbers)
            if id(value) not in known:
                known[id(value)] = change(number, value)
            return known[id(value)]
        if isinstance(value, Mapping):
            return {key: one(member) for key, member in value.items()}
        return type(value)(one(member) for member in value) if type(value) in (list, tuple) else value

    return one(value)


def varied(given: Given, case: Case, number: int, tensor: torch.Tensor, *, is_written: bool) -> torch.Tensor:
    """A given tensor, the one of this number, with the values and the layout of the case."""
    if number >= len(given.tensors):
        return tensor
    facts = given.tensors[number]
    with torch.no_grad():
        values = _valued(given, case, number, tensor.detach())
        if facts.is_contiguous and not (is_written and case.layout is Layout.EXPANDED):
            values = _placed(facts, case.layout, values, _turn(given, number))
    return values.requires_grad_() if tensor.requires_grad else values


def _turn(given: Given, number: int) -> Turn:
    return turns([len(tensor.dims) if tensor.is_contiguous else 0 for tensor in given.tensors])[number]


def _placed(facts: GivenTensor, layout: Layout, values: torch.Tensor, turn: Turn) -> torch.Tensor:
    if layout is not Layout.EXPANDED:
        return laid_out(values, layout, turn)
    may_be_alike = values.dim() and values.numel() and not facts.is_ordered and not facts.is_distinct
    return values[:1].clone().expand(values.shape) if may_be_alike else values


# -- values --------------------------------------------------------------------------------------------------------


def _valued(given: Given, case: Case, number: int, tensor: torch.Tensor) -> torch.Tensor:
    facts = given.tensors[number]
    if case.fill == "normal" or not tensor.numel() or not facts.takes(case.fill, number):
        return tensor
    if facts.is_floating and not tensor.is_floating_point():
        return tensor  # a function that gives integers for another dtype of the subject
    if case.fill in INTEGERS:
        values = _of_integers(case, number, tensor)
    elif case.fill == REACHING and facts.below is not None:
        values = _reaching(case, tensor, size_of(facts.below, {**given.sizes, **case.sizes}))
    elif (special := special_of(case.fill)) is not None:
        values = among(tensor, special[0], number)
    elif case.fill in REARRANGED:
        values = _rearranged(case.fill, tensor)
    elif case.fill.startswith(SCALED):
        values = _scaled(tensor, float(case.fill.removeprefix(SCALED)))
    else:
        there = replace(case, device=str(tensor.device))
        values = filled(there, tuple(tensor.shape), tensor.dtype, tensor)
    return torch.empty_like(tensor).copy_(values)


def _of_integers(case: Case, number: int, tensor: torch.Tensor) -> torch.Tensor:
    flat = tensor.reshape(-1)
    if case.fill == RUNS:
        least, largest = (int(one) for one in flat.to(torch.int64).aminmax())
        return in_runs(least, largest, tensor.shape, case.seed + number).to(tensor.device, tensor.dtype)
    match case.fill:
        case "integers sorted":
            return flat.to(torch.int64).sort().values.reshape(tensor.shape).to(tensor.dtype)
        case "integers permuted":
            generator = torch.Generator().manual_seed(case.seed)
            order = torch.randperm(flat.numel(), generator=generator).to(tensor.device)
            return flat[order].reshape(tensor.shape)
        case "integers least":
            return torch.full_like(tensor, flat.to(torch.int64).min().item())
    return torch.full_like(tensor, flat.to(torch.int64).max().item())


def _reaching(case: Case, tensor: torch.Tensor, below: int) -> torch.Tensor:
    """Any places of a dimension of that size, the last one among them; what is below 0 is a mark, and no place."""
    generator = torch.Generator().manual_seed(case.seed)
    drawn = torch.randint(0, max(1, below), tensor.shape, generator=generator)
    drawn.view(-1)[-1] = max(0, below - 1)
    return torch.where(tensor >= 0, drawn.to(tensor.device, tensor.dtype), tensor)


def _scaled(tensor: torch.Tensor, factor: float) -> torch.Tensor:
    limit = torch.finfo(tensor.dtype).max
    wide = tensor.double() * factor
    return wide.where(wide.isinf(), wide.clamp(-limit, limit))


def unscaled(given: Given, case: Case, arguments: Any) -> Any:
    """The arguments of a case whose numbers are scaled, as they were given."""
    factor = float(case.fill.removeprefix(SCALED))

    def one(number: int, tensor: torch.Tensor) -> torch.Tensor:
        is_scaled = number < len(given.tensors) and given.tensors[number].takes(case.fill, number)
        is_scaled &= tensor.is_floating_point()
        return _scaled(tensor, 1 / factor).to(tensor.dtype) if is_scaled else tensor

    with torch.no_grad():
        return each_tensor(arguments, one)


def _rearranged(fill: str, tensor: torch.Tensor) -> torch.Tensor:
    wide = tensor.double()
    finite = wide[wide.isfinite()]
    if fill == "constant":
        return wide.new_full(wide.shape, float(finite[0]) if finite.numel() else 0.0)
    if fill == "sorted":
        return (wide if wide.dim() else wide.reshape(1)).sort(dim=-1).values.reshape(wide.shape)
    if not finite.numel() or float(finite.min()) == float(finite.max()):
        return wide
    low, high = float(finite.min()), float(finite.max())
    step = (high - low) / _LEVELS
    return torch.where(wide.isfinite(), (((wide - low) / step).round() * step + low).clamp(low, high), wide)


# -- sizes ---------------------------------------------------------------------------------------------------------

_SIZES_FIRST = frozenset(("rand", "randn", "zeros", "ones", "empty"))
"""What makes tensors and takes their sizes as numbers, too."""


class Resized(TorchFunctionMode):  # type: ignore[misc]
    """Inside it, tensors are made with other sizes than asked for, wherever one of these is asked for."""

    def __init__(self, changes: Mapping[int, int]) -> None:
        super().__init__()
        self._changes = changes
        self._makers = _device_constructors()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func not in self._makers or getattr(func, "__name__", "") in ("tensor", "as_tensor"):
            return func(*args, **kwargs)
        if getattr(func, "__name__", "") in _SIZES_FIRST:
            args = tuple(self._changes.get(value, value) if type(value) is int else value for value in args)
        if "size" in kwargs:
            kwargs["size"] = self._shape(kwargs["size"])
        return func(*map(self._shape, args), **kwargs)

    def _shape(self, value: Any) -> Any:
        if not isinstance(value, (tuple, list)):
            return value
        return tuple(self._changes.get(size, size) if type(size) is int else size for size in value)


def has_shapes(given: Given, arguments: Any, sizes: Mapping[str, int]) -> bool:
    """Whether the tensors have the shapes that the given ones have with these sizes."""
    shapes: list[tuple[int, ...]] = []

    def note(_: int, tensor: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(tensor.shape))
        return tensor

    each_tensor(arguments, note)
    full = {**given.sizes, **sizes}
    return shapes == [tuple(size_of(dim, full) for dim in facts.dims) for facts in given.tensors]


def cut(facts: GivenTensor, sizes: Mapping[str, int], tensor: torch.Tensor) -> torch.Tensor:
    """The first of the given values along each dimension, again and again where there are to be more."""
    for axis, dim in enumerate(facts.dims):
        size = size_of(dim, sizes)
        if size != tensor.shape[axis]:
            places = torch.arange(size, device=tensor.device) % max(1, tensor.shape[axis])
            tensor = tensor.index_select(axis, places)
    return tensor


def _ranks(places: torch.Tensor) -> torch.Tensor:
    """How many others are less, of those that are no marks."""
    flat = places.reshape(-1)
    return (flat.argsort(stable=True).argsort() - int((flat < 0).sum())).reshape(places.shape)


def within(given: Given, sizes: Mapping[str, int], number: int, tensor: torch.Tensor) -> torch.Tensor:
    """Integers that may point into a dimension which is smaller than given, brought into it: distinct ones by rank."""
    facts = given.tensors[number]
    if facts.is_floating or facts.dtype == "bool" or facts.is_ordered:
        return tensor
    smaller = [size for name, size in sizes.items() if size <= facts.high < given.sizes[name]]
    if not smaller:
        return tensor
    wide = tensor.to(torch.int64)
    places = _ranks(wide) if facts.is_distinct else wide
    return torch.where(wide >= 0, places % min(smaller), wide).to(tensor.dtype)
