"""Operators and comparisons of Python on the values of host code."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tritonaudit.domains.affine import ONE, Affine
from tritonaudit.host.facts import IS, at_most, equal
from tritonaudit.host.run import Raises, Run
from tritonaudit.host.values import Condition, Dims, Dtype, External, Ratio, Symbol, Tensor, Test, Value, number

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift)
_BITS: dict[type[ast.operator], str] = {ast.BitAnd: "BitAnd", ast.BitOr: "BitOr", ast.BitXor: "BitXor"}
_FLOATS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: a // b, ast.Mod: lambda a, b: a % b,
    ast.Pow: lambda a, b: a**b,
}  # fmt: skip
_LONGEST = 4096


def binary(run: Run, operator: ast.operator, left: Value, right: Value) -> Value:
    """`left operator right`."""
    if isinstance(left, (str, tuple, list, Dims, dict)) or isinstance(right, (tuple, list)):
        return _of_sequences(run, operator, left, right)
    if isinstance(left, float) or isinstance(right, float):
        return _of_floats(run, operator, left, right)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _elementwise(run, left, right)
    if isinstance(left, Ratio) or isinstance(right, Ratio):
        return run.unknown("a quotient that is not rounded", left, right)
    if isinstance(left, bool) and isinstance(right, bool) and type(operator) in _BITS:
        either = left != right if isinstance(operator, ast.BitXor) else left or right
        return left and right if isinstance(operator, ast.BitAnd) else either
    if isinstance(left, Condition) or isinstance(right, Condition):
        left, right = (run.truth(v) if isinstance(v, Condition) else v for v in (left, right))
        return binary(run, operator, left, right)
    one, other = run.integer(left), run.integer(right)
    if one is None or other is None:
        return run.unknown(f"`{type(operator).__name__}` of what is not a number", left, right)
    return _of_integers(run, operator, one, other)


def _of_integers(run: Run, operator: ast.operator, left: Affine, right: Affine) -> Value:
    arithmetic = run.arithmetic
    if isinstance(operator, (ast.FloorDiv, ast.Mod, ast.Div)) and right.value == 0:
        raise Raises("it divides by 0")
    if isinstance(operator, ast.Add):
        return left + right
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.Mult):
        return arithmetic.times(left, right)
    if isinstance(operator, ast.FloorDiv):
        return arithmetic.quotient(left, right)
    if isinstance(operator, ast.Mod):
        return arithmetic.remainder(left, right)
    if isinstance(operator, ast.Div):
        return Ratio(left, right)
    if isinstance(operator, ast.Pow):
        if right.value is not None and right.value < 0:
            return float(left.value) ** right.value if left.value else run.unknown("a power below 1", left)
        return arithmetic.power(left, right)
    if isinstance(operator, (ast.LShift, ast.RShift)):
        return arithmetic.shifted(left, right, isinstance(operator, ast.LShift))
    if type(operator) in _BITS:
        return arithmetic.bits(_BITS[type(operator)], left, right)
    return run.unknown(f"`{type(operator).__name__}` of integers", left, right)


def _of_floats(run: Run, operator: ast.operator, left: Value, right: Value) -> Value:
    function = _FLOATS.get(type(operator))
    numbers = [v if isinstance(v, float) else v.value if isinstance(v, Affine) else None for v in (left, right)]
    if function is None or None in numbers:
        return run.unknown("a floating-point number", left, right)
    try:
        result = function(*numbers)  # type: ignore[arg-type]  # None is ruled out
    except (ArithmeticError, ValueError) as error:
        raise Raises(str(error)) from None
    return result if isinstance(result, float) else run.unknown("a complex number", left, right)


def _of_sequences(run: Run, operator: ast.operator, left: Value, right: Value) -> Value:
    left, right = (run.dims(v) if isinstance(v, Dims) else v for v in (left, right))
    if isinstance(operator, ast.Add) and type(left) is type(right) and isinstance(left, (str, tuple, list)):
        return left + right if len(left) + len(right) < _LONGEST else run.unknown("a long sequence", left, right)
    if isinstance(operator, ast.Mult):
        sequence, times = (left, right) if isinstance(left, (str, tuple, list)) else (right, left)
        count = run.integer(times)
        if count is not None and count.value is not None and count.value * len(sequence) < _LONGEST:
            return sequence * count.value
    if isinstance(operator, ast.BitOr) and isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    return run.unknown("a text" if isinstance(left, str) else "a sequence of unknown length", left, right)


def _elementwise(run: Run, left: Value, right: Value) -> Value:
    """Arithmetic of tensors makes a new one, whose shape is known where one side is a number or has the same."""
    tensors = [tensor for v in (left, right) if isinstance(v, Tensor) for tensor in (v,)]
    shapes = [run.dims(tensor.shape) for tensor in tensors]
    result = run.unknown("the elements of a tensor", left, right, name="a tensor")
    if all(shape == shapes[0] for shape in shapes) and not any(isinstance(v, Symbol) for v in (left, right)):
        return Tensor(result, shapes[0], None, result.part("dtype"), "computed", True)
    return result


def unary(run: Run, operator: ast.unaryop, value: Value) -> Value:
    if isinstance(operator, ast.Not):
        condition = run.condition(value)
        return not condition if isinstance(condition, bool) else condition.opposite
    if isinstance(value, float):
        return -value if isinstance(operator, ast.USub) else value
    if isinstance(value, Tensor):
        return _elementwise(run, value, value)
    whole = run.integer(value)
    if whole is None or isinstance(operator, ast.Invert):
        return run.unknown("an operator of one value", value)
    return -whole if isinstance(operator, ast.USub) else whole


def compare(run: Run, operator: ast.cmpop, left: Value, right: Value) -> Value:
    """`left operator right`: a truth value, or a condition."""
    if isinstance(operator, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
        same = _same(run, left, right, isinstance(operator, (ast.Is, ast.IsNot)))
        return same if isinstance(operator, (ast.Is, ast.Eq)) else unary(run, ast.Not(), same)
    if isinstance(operator, (ast.In, ast.NotIn)):
        found = _holds(run, left, right)
        return found if isinstance(operator, ast.In) else unary(run, ast.Not(), found)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _elementwise(run, left, right)
    if isinstance(left, (float, str)) and isinstance(right, type(left)):
        return _ordered(operator, left, right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _of_tuples(run, operator, left, right)
    one, other = run.integer(left), run.integer(right)
    if one is None or other is None:
        return _unknown(run, operator, left, right)
    return run.condition(_less(operator, one, other))


def _less(operator: ast.cmpop, left: Affine, right: Affine) -> Condition:
    if isinstance(operator, (ast.Gt, ast.GtE)):
        symbol = ">" if isinstance(operator, ast.Gt) else ">="
        gap = right - left + (ONE if symbol == ">" else number(0))
    else:
        symbol = "<" if isinstance(operator, ast.Lt) else "<="
        gap = left - right + (ONE if symbol == "<" else number(0))
    return Condition(at_most(gap, f"{left} {symbol} {right}"))


def _ordered(operator: ast.cmpop, left: float | str, right: float | str) -> bool:
    pair: tuple[float, float] = (left, right)  # type: ignore[assignment]  # both are of one type
    if isinstance(operator, ast.Lt):
        return pair[0] < pair[1]
    if isinstance(operator, ast.LtE):
        return pair[0] <= pair[1]
    return pair[0] > pair[1] if isinstance(operator, ast.Gt) else pair[0] >= pair[1]


def _of_tuples(run: Run, operator: ast.cmpop, left: tuple[Value, ...], right: tuple[Value, ...]) -> Value:
    """Lexicographic, where the parts are numbers."""
    for one, other in zip(left, right, strict=False):
        a, b = run.integer(one), run.integer(other)
        if a is None or b is None or a.value is None or b.value is None:
            return _unknown(run, operator, left, right)
        if a.value != b.value:
            return _ordered(operator, a.value, b.value)
    return _ordered(operator, len(left), len(right))


def _same(run: Run, left: Value, right: Value, is_identity: bool) -> Condition | bool:
    if right is None or left is None:
        return run.is_none(left if right is None else right)
    if left is right:
        return True
    if isinstance(left, (tuple, list, Dims)) and isinstance(right, (tuple, list, Dims)):
        return _same_sequence(run, left, right)
    if isinstance(left, (str, Dtype, External, bool, float)) and isinstance(right, type(left)):
        return bool(left == right)
    if isinstance(left, Symbol) and isinstance(right, Symbol) and left.key == right.key:
        return True
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Symbol) and isinstance(other, (str, Dtype, External, bool, Symbol, float)):
            return _is(run, one, other)
    one, other = (None if isinstance(v, (Tensor, str, Dtype, External)) else run.integer(v) for v in (left, right))
    if one is not None and other is not None:
        return run.condition(Condition(equal(one - other, f"{one} == {other}")))
    kinds = (str, Dtype, External, Affine, tuple, list, dict)
    if isinstance(left, kinds) and isinstance(right, kinds) and type(left) is not type(right):
        return False
    return run.condition(_unknown(run, ast.Eq(), left, right))


def _is(run: Run, symbol: Symbol, value: Value) -> Condition | bool:
    """Two inputs that are the same are the same number, should they be numbers."""
    known = value.key if isinstance(value, Symbol) else value
    text = f"{symbol.name} == {value.name if isinstance(value, (Symbol, Dtype, External)) else repr(value)}"
    roots = symbol.roots | (value.roots if isinstance(value, Symbol) else frozenset())
    one, other = run.integer(symbol), run.integer(value) if isinstance(value, Symbol) else None
    gap = None if one is None or other is None else one - other
    if gap is not None and gap.value is not None:
        return gap.value == 0
    return run.condition(Condition(Test(IS, (symbol.key, known), text, gap, symbol.reason, roots)))


def _same_sequence(run: Run, left: Value, right: Value) -> Condition | bool:
    """Shapes are compared one size after the other, each on the path on which those before it are the same."""
    one, other = (run.dims(v) for v in (left, right))
    if isinstance(one, Dims) and isinstance(other, Dims):
        if one == other:
            return True
        key = ("shapes", one.of.key, one.first, one.last), (other.of.key, other.first, other.last)
        return run.condition(Condition(Test(IS, key, f"{one.of.name}.shape == {other.of.name}.shape")))
    for lazy, known in ((one, other), (other, one)):
        if isinstance(lazy, Dims) and not isinstance(known, Dims):
            if not run.truth(_same(run, run.rank(lazy), number(len(known)), False)):
                return False
            return _same_sequence(run, lazy, known)
    assert isinstance(one, tuple)
    assert isinstance(other, tuple)
    if len(one) != len(other):
        return False
    return all(run.truth(_same(run, a, b, False)) for a, b in zip(one, other, strict=True))


def _holds(run: Run, element: Value, container: Value) -> Condition | bool:
    if isinstance(container, dict):
        container = tuple(container)
    if isinstance(element, str) and isinstance(container, str):
        return element in container
    if isinstance(container, (tuple, list)):
        return any(run.truth(_same(run, element, one, False)) for one in container)
    return run.condition(_unknown(run, ast.In(), element, container))


def _unknown(run: Run, operator: ast.cmpop, left: Value, right: Value) -> Value:
    return run.unknown(f"`{type(operator).__name__}` of values that are not known", left, right, name="a comparison")
