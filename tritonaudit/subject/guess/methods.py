"""What methods, attributes and library functions make of tensors, as far as their shape goes."""

from __future__ import annotations

import ast
import re

from tritonaudit.subject.guess.unpacking import member
from tritonaudit.subject.guess.usage import Usage
from tritonaudit.subject.guess.values import (
    Count,
    Dim,
    Dtype,
    DtypeName,
    Given,
    Group,
    Literal,
    Order,
    Rank,
    Shape,
    Strides,
    formula,
    numbers_in,
)

_LIKE = re.compile(r"(?:empty|zeros|ones|full|rand|randn|randint)_like$")
_SAME_SHAPE = {
    "to", "cuda", "cpu", "float", "half", "bfloat16", "double", "int", "long", "type", "type_as",
    "detach", "clone", "requires_grad_", "abs", "neg", "sigmoid", "exp", "relu",
}  # fmt: skip
_ATTRIBUTES = {"shape", "dtype", "device", "ndim", "data", "T", "mT", "is_cuda", "requires_grad", "grad", "layout"}
_METHODS = _SAME_SHAPE | {
    "size", "stride", "dim", "ndimension", "numel", "nelement", "element_size", "storage_offset", "data_ptr",
    "is_contiguous", "is_floating_point", "is_complex", "get_device", "record_stream", "untyped_storage",
    "contiguous", "view", "reshape", "transpose", "swapaxes", "permute", "t", "unsqueeze", "squeeze", "flatten",
    "expand", "expand_as", "view_as", "as_strided", "repeat", "chunk", "unbind", "narrow", "movedim",
    "new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "zero_", "fill_", "copy_", "item", "tolist",
    "index_select", "gather", "scatter_", "nonzero", "argsort", "sort", "cumsum", "sum", "mean", "amax", "any", "all",
}  # fmt: skip


def attribute(usage: Usage, owner: Given, name: str) -> object:
    """What an attribute of a parameter is; one that no tensor has shows that the parameter is none."""
    if name in _ATTRIBUTES:
        usage.tensor(owner.name)
    elif name not in _METHODS:
        usage.of(owner.name).is_object = True
    match name:
        case "shape":
            return _shape(owner)
        case "ndim":
            return _rank(owner)
        case "dtype":
            return Dtype(owner.name)
        case "data":
            return owner
        case "T" | "mT":
            return _swapped(usage, owner, -1, -2)
    return None


def method(usage: Usage, owner: Given, name: str, arguments: list[object]) -> object:
    """What a method of a parameter returns."""
    tensor = owner.name
    if name in _METHODS:
        usage.tensor(tensor)
    numbers = numbers_in(arguments)
    match name:
        case "size":
            return _part(usage, _shape(owner), numbers, arguments)
        case "stride":
            return None if owner.sizes is not None else _part(usage, Strides(tensor, owner.order), numbers, arguments)
        case "dim" | "ndimension":
            return _rank(owner)
        case "numel" | "nelement":
            return Count(tensor)
        case "view" | "reshape":
            return _reshaped(usage, owner, arguments)
        case "contiguous":
            return owner
    if owner.sizes is None and (moved := _moved(usage, owner, name, arguments)) is not None:
        return moved
    return Given(tensor, False, owner.order, owner.sizes) if name in _SAME_SHAPE else None


def _moved(usage: Usage, owner: Given, name: str, arguments: list[object]) -> Given | None:
    """What a method that moves the axes of a parameter returns."""
    tensor, numbers = owner.name, numbers_in(arguments)
    match name:
        case "t":
            usage.rank(tensor, 2)
            return _swapped(usage, owner, 0, 1)
        case "permute" if len(numbers) > 1 and owner.order is None:
            usage.rank(tensor, len(numbers))
            order = Order(permutation=tuple(number % len(numbers) for number in numbers))
            return Given(tensor, owner.is_itself, order)
        case "transpose" | "swapaxes" if len(numbers) == 2:
            return _swapped(usage, owner, numbers[0], numbers[1])
        case "expand_as" | "view_as" if isinstance(arguments[0], Given):
            return Given(arguments[0].name, is_itself=False)
    return None


def _part(usage: Usage, whole: Shape | Strides | Group, numbers: list[int], arguments: list[object]) -> object:
    """What `x.size()` or `x.size(0)` is of all sizes."""
    if numbers:
        return member(usage, whole, ast.Constant(numbers[0]))
    return None if arguments else whole


def _shape(owner: Given) -> Shape | Group:
    return Shape(owner.name, order=owner.order) if owner.sizes is None else Group(owner.sizes)


def _rank(owner: Given) -> Rank | Literal:
    return Rank(owner.name) if owner.sizes is None else Literal(len(owner.sizes))


def _reshaped(usage: Usage, owner: Given, arguments: list[object]) -> Given | None:
    """`x.view(-1, hidden)`: its sizes are known, but for the one that is left to torch.

    What is made into rows of a size has that size as its last.
    """
    first = arguments[0] if arguments else None
    sizes = first.members if isinstance(first, Group) else tuple(arguments)
    usage.of(owner.name).is_reshaped = True
    if not sizes or any(isinstance(size, (Shape, DtypeName)) for size in sizes):
        return None
    if len(sizes) == 2 and sizes[0] == Literal(-1) and isinstance(sizes[1], Dim) and owner.sizes is None:
        usage.axis(owner.name, -2)
        if sizes[1].of != owner.name:
            usage.equal.append((Dim(owner.name, -1), sizes[1]))
    return Given(owner.name, owner.is_itself, sizes=tuple(None if size == Literal(-1) else size for size in sizes))


def library(usage: Usage, name: str, arguments: list[object]) -> object:
    """What a function of another module returns, as far as its name tells."""
    first = arguments[0] if arguments else None
    match name, first:
        case "len", Shape():
            return Rank(first.of)
        case "len", Given() if first.sizes is None:
            return Dim(first.name, 0)
        case "prod" | "numel", Shape() if first.is_whole:
            return Count(first.of)
        case "tuple" | "list" | "int" | "Size", _:
            return first
        case "cdiv" | "ceil_div" | "ceildiv", _ if len(arguments) == 2:
            return formula("cdiv", *arguments)
        case "broadcast_tensors", Given():
            return Group(tuple(arguments))
        case "linear", _ if len(arguments) > 1 and isinstance(arguments[1], Given):
            _learn_linear(usage, arguments)
        case "rearrange", Given() if first.sizes is None and len(arguments) > 1 and isinstance(arguments[1], Literal):
            _learn_pattern(usage, first.name, str(arguments[1].value))
        case _, Given() if _LIKE.match(name):
            usage.tensor(first.name)
            return Given(first.name, False, first.order, first.sizes)
        case _, Given() if "contiguous" in name:
            return first
    return None


def _swapped(usage: Usage, owner: Given, one: int, other: int) -> Given:
    for axis in (one, other):
        usage.axis(owner.name, axis)
    before = owner.order or Order()
    return Given(owner.name, owner.is_itself, Order((*before.swaps, (one, other)), before.permutation))


def _learn_linear(usage: Usage, arguments: list[object]) -> None:
    """Learn from torch's `linear(x, weight, bias)`."""
    x, weight, bias = (*arguments, None)[:3]
    assert isinstance(weight, Given)
    usage.rank(weight.name, 2)
    if isinstance(x, Given) and x.sizes is None:
        usage.equal.append((Dim(weight.name, 1), Dim(x.name, -1)))
    if isinstance(bias, Given):
        usage.rank(bias.name, 1)
        usage.equal.append((Dim(bias.name, 0), Dim(weight.name, 0)))


def _learn_pattern(usage: Usage, tensor: str, pattern: str) -> None:
    """Learn the axes from `rearrange(x, "b t h d -> b h t d")`."""
    axes = pattern.partition("->")[0].split()
    if axes and all(axis.isidentifier() or axis.isdigit() for axis in axes):
        usage.rank(tensor, len(axes))
        for place, axis in enumerate(axes):
            if axis.isidentifier():
                usage.name(Dim(tensor, place), axis, len(axes))
