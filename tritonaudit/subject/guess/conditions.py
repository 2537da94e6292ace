"""What comparisons say of parameters: those that a wrapper demands, and those that it only asks about."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from tritonaudit.subject.guess.usage import Usage
from tritonaudit.subject.guess.values import (
    Absent,
    Dim,
    Dtype,
    DtypeName,
    Formula,
    Given,
    Group,
    Literal,
    Rank,
    Shape,
    numbers_in,
)

_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def demand_equal(usage: Usage, left: object, right: object) -> None:
    """Learn from an equality without which the wrapper refuses its arguments."""
    if isinstance(left, (Literal, DtypeName)) or (isinstance(left, Group) and isinstance(right, Shape)):
        left, right = right, left
    match left, right:
        case (Dim() as one, (Dim() | Given() | Formula()) as other):
            usage.equal.append((one, other))
        case ((Given() | Formula()) as other, Dim() as one):
            usage.equal.append((one, other))
        case (Dim(), Literal(value=int() as number)):
            usage.equal.append((left, Literal(number)))
        case (Rank(), Literal(value=int() as number)):
            usage.rank(left.of, number, is_checked=True)
        case (Shape(), Shape()):
            _same(usage, left, right)
        case (Shape(), Group()):
            _shaped(usage, left, right)
        case (Dtype(), DtypeName()):
            usage.of(left.of).dtypes.append(right.name)
        case (Given(), Literal()):
            usage.of(left.name).words.append(right.value)


def demand_among(usage: Usage, left: object, right: object) -> None:
    """Learn from `left in right`, without which the wrapper refuses its arguments."""
    members = right.members if isinstance(right, Group) else ()
    numbers = numbers_in(members)
    match left:
        case Dim() if numbers:
            usage.of(left.of).allowed[left.axis] = tuple(numbers)
        case Rank() if numbers:
            usage.rank(left.of, numbers[0])
        case Dtype():
            usage.of(left.of).dtypes.extend(part.name for part in members if isinstance(part, DtypeName))
        case Given():
            usage.of(left.name).words.extend(part.value for part in members if isinstance(part, Literal))


def demand_at_most(usage: Usage, left: object, right: object) -> None:
    """Learn from `left <= right`, without which the wrapper refuses its arguments; sizes that are equal will do."""
    if isinstance(left, Dim) and isinstance(right, Literal) and type(right.value) is int:
        usage.of(left.of).most[left.axis] = right.value
    elif isinstance(left, (Dim, Formula)) and isinstance(right, (Dim, Formula)):
        demand_equal(usage, left, right)


def ask(usage: Usage, left: object, comparison: ast.cmpop, right: object) -> None:
    """Note what a parameter is compared with where nothing is refused: `if activation == "relu"`."""
    if not isinstance(comparison, (ast.Eq, ast.NotEq, ast.In)):
        return
    match left, right:
        case (Given(), Literal(value=str() as word)):
            usage.of(left.name).words.append(word)
        case (Given(), Group()):
            usage.of(left.name).words.extend(part.value for part in right.members if isinstance(part, Literal))
        case (Rank(), Literal(value=int() as number)) if isinstance(comparison, ast.Eq):
            usage.tensor(left.of)
            usage.of(left.of).asked_ranks.append(number)


def decided(left: object, comparison: ast.cmpop, right: object, ranks: Mapping[str, int]) -> bool | None:
    """Whether a comparison holds, where constants or the ranks decide it; what is given is not None."""
    match left, comparison, right:
        case Absent(), ast.Is() | ast.Eq(), Literal(value=None):
            return True
        case Absent(), ast.IsNot() | ast.NotEq(), Literal(value=None):
            return False
        case Given(), ast.Is() | ast.IsNot(), Literal(value=None):
            return isinstance(comparison, ast.IsNot)
        case Literal(), ast.Is() | ast.IsNot(), Literal():
            return (left.value is right.value) == isinstance(comparison, ast.Is)
        case Literal(), ast.Eq() | ast.NotEq(), Literal():
            return (left.value == right.value) == isinstance(comparison, ast.Eq)
        case Rank(), _, Literal(value=int() as number) if left.of in ranks and type(comparison) in _COMPARISONS:
            return _COMPARISONS[type(comparison)](ranks[left.of], number)
    return None


def _same(usage: Usage, left: Shape, right: Shape) -> None:
    """`x.shape == y.shape`, or the same parts of them."""
    if left.order is not None or right.order is not None or (left.start, left.stop) != (right.start, right.stop):
        return
    if left.start == 0 and (left.stop is None or left.stop < 0):
        usage.same_shape.append((left.of, right.of, -(left.stop or 0)))
    elif left.stop is not None and 0 <= left.start < left.stop:
        for axis in range(left.start, left.stop):
            usage.equal.append((Dim(left.of, axis), Dim(right.of, axis)))


def _shaped(usage: Usage, shape: Shape, group: Group) -> None:
    """`x.shape == (m, n)`."""
    if not shape.is_whole or shape.order is not None or any(isinstance(part, Shape) for part in group.members):
        return
    usage.rank(shape.of, len(group.members), is_checked=True)
    for axis, part in enumerate(group.members):
        if isinstance(part, (Dim, Given, Literal, Formula)):
            demand_equal(usage, Dim(shape.of, axis), part)
