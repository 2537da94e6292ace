"""What the parts of shapes, strides and tuples are, and what taking them apart says of a tensor's rank."""

from __future__ import annotations

import ast

from tritonaudit.subject.guess.usage import Usage
from tritonaudit.subject.guess.values import Group, Order, Shape, Strides, dim_of, stride_of


def members(usage: Usage, value: object, count: int, star: int | None = None) -> list[object] | None:
    """What each of `count` targets is bound to, of which the one at `star` takes the rest; None where unknown."""
    match value:
        case Strides():
            usage.rank(value.of, count)
            order = value.order or Order()
            return [stride_of(value.of, order.axis(axis, count)) for axis in range(count)]
        case Shape():
            return _sizes(usage, value, count, star)
        case Group() if star is None:
            return _spread(usage, value, count)
    return None


def member(usage: Usage, value: Shape | Strides | Group, index: ast.expr) -> object:
    """What an index or a slice of a shape, of strides or of a tuple is."""
    number = integer(index)
    if isinstance(value, Group):
        has_shape = any(isinstance(part, Shape) for part in value.members)
        is_there = number is not None and -len(value.members) <= number < len(value.members)
        return value.members[number] if number is not None and is_there and not has_shape else None
    if number is not None:
        place = number + (value.start if isinstance(value, Shape) and number >= 0 else 0)
        axis = (value.order or Order()).axis(place)
        usage.axis(value.of, place if axis is None else axis)
        return dim_of(value.of, axis) if isinstance(value, Shape) else stride_of(value.of, axis)
    return _slice(value, index) if isinstance(value, Shape) and isinstance(index, ast.Slice) else None


def integer(node: ast.expr) -> int | None:
    """The whole number that an expression is."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return value if type(value) is int else None


def _slice(shape: Shape, index: ast.Slice) -> Shape | None:
    start = 0 if index.lower is None else integer(index.lower)
    stop = None if index.upper is None else integer(index.upper)
    is_known = start is not None and (index.upper is None or stop is not None) and index.step is None
    return Shape(shape.of, start or 0, stop, shape.order) if is_known and shape.is_whole else None


def _sizes(usage: Usage, shape: Shape, count: int, star: int | None) -> list[object]:
    tensor, start, order = shape.of, shape.start, shape.order or Order()
    if star is not None:
        usage.axis(tensor, 1 - count)
        return [dim_of(tensor, order.axis(place if place < star else place - count)) for place in range(count)]
    rank = None
    if shape.stop is None and start >= 0:
        rank = count + start
    elif shape.stop is not None and shape.stop < 0 and start == 0:
        rank = count - shape.stop
    if rank is not None:
        usage.rank(tensor, rank)
    return [dim_of(tensor, order.axis(start + place, rank)) for place in range(count)]


def _spread(usage: Usage, group: Group, count: int) -> list[object] | None:
    """The members of a tuple, a shape in it spread: `b, t, h, k, v = *k.shape, v.shape[-1]`."""
    shapes = [part for part in group.members if isinstance(part, Shape)]
    spread = count - len(group.members) + len(shapes)
    if len(shapes) > 1 or (not shapes and spread != 0):
        return None
    found: list[object] = []
    for part in group.members:
        found.extend(_sizes(usage, part, spread, None) if isinstance(part, Shape) else [part])
    return found
