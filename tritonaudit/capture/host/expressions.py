"""What the expressions of host code are, as far as their text tells."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.capture.host.library import FUNCTIONS, METHODS
from tritonaudit.capture.host.values import UNKNOWN, Dtype, HostFunction, Shape, Tensor, is_known
from tritonaudit.source.outline import dotted_name

if TYPE_CHECKING:
    from tritonaudit.capture.host.run import Run

Handler = Callable[["Run", Any, str], Any]


def _constant(run: Run, node: ast.Constant, hint: str) -> Any:
    return node.value


def _name(run: Run, node: ast.Name, hint: str) -> Any:
    if node.id in run.names:
        value = run.names[node.id]
        return Tensor(None) if value is UNKNOWN and node.id in run.tensors else value
    if node.id in run.tensors:
        return Tensor(None)
    return run.host.global_value(run.module, node.id)


def _attribute(run: Run, node: ast.Attribute, hint: str) -> Any:
    dotted = dotted_name(node)
    if dotted is not None and dotted.partition(".")[0] not in run.names:
        found = run.host.global_value(run.module, dotted)
        if found is not UNKNOWN:
            return found
    owner = run.value(node.value)
    if isinstance(owner, Tensor):
        return _tensor_attribute(run, owner, node.attr)
    if isinstance(owner, Dtype) and node.attr == "itemsize":
        return owner.itemsize
    if owner is UNKNOWN and isinstance(node.value, ast.Name) and run.function is not None:
        first = run.function.args.args[:1]
        if first and first[0].arg == node.value.id:
            return run.host.sibling_value(run.function, node.attr)
    return UNKNOWN


def _tensor_attribute(run: Run, tensor: Tensor, name: str) -> Any:
    if name == "shape":
        return Shape(tensor)
    if name == "dtype":
        return Dtype(tensor.dtype or run.host.dtype)
    if name in ("T", "data", "mT", "grad"):
        return tensor
    if name == "ndim":
        return UNKNOWN
    return True if name in ("is_cuda", "requires_grad") else UNKNOWN


def _subscript(run: Run, node: ast.Subscript, hint: str) -> Any:
    owner = run.value(node.value)
    if isinstance(owner, Shape):
        return Shape(owner.tensor) if isinstance(node.slice, ast.Slice) else run.host.sizes.number(hint or "size")
    if isinstance(owner, Tensor):
        return owner
    if isinstance(owner, (tuple, list, dict, str)) and not isinstance(node.slice, ast.Slice):
        key = run.value(node.slice)
        if key is UNKNOWN and isinstance(owner, dict) and owner:
            return list(owner.values())[-1 if run.host.sizes.shrunk > 1 else 0]
        return owner[key] if is_known(key) else UNKNOWN
    return UNKNOWN


def _tuple(run: Run, node: ast.Tuple | ast.List, hint: str) -> Any:
    values = [run.value(element) for element in node.elts if not isinstance(element, ast.Starred)]
    return tuple(values) if isinstance(node, ast.Tuple) else values


def _dict(run: Run, node: ast.Dict, hint: str) -> Any:
    result: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        known = None if key is None else run.value(key)
        if isinstance(known, (str, int, Dtype)):
            result[known] = run.value(value, known if isinstance(known, str) else "")
        elif key is None and isinstance(more := run.value(value), dict):
            result.update(more)
    return result


def _unary(run: Run, node: ast.UnaryOp, hint: str) -> Any:
    value = run.value(node.operand)
    if isinstance(node.op, ast.Not):
        return not value if is_known(value) else UNKNOWN
    return -run.number(node.operand) if isinstance(node.op, ast.USub) else UNKNOWN


def _binary(run: Run, node: ast.BinOp, hint: str) -> Any:
    return operate(node.op, run.number(node.left), run.number(node.right))


def _boolean(run: Run, node: ast.BoolOp, hint: str) -> Any:
    wanted = isinstance(node.op, ast.Or)
    values = [run.value(operand, hint) for operand in node.values]
    if isinstance(node.op, ast.And) and not all(map(is_known, values)):
        return False if any(is_known(value) and not value for value in values) else UNKNOWN
    for value in values:
        if is_known(value) and bool(value) is wanted:
            return value
    return values[-1] if all(map(is_known, values)) else UNKNOWN


def _compare(run: Run, node: ast.Compare, hint: str) -> Any:
    if len(node.ops) > 1:
        return UNKNOWN
    compared = node.ops[0]
    if isinstance(compared, (ast.Is, ast.IsNot)):
        left, right = run.value(node.left), run.value(node.comparators[0])
        if right is None:
            return (left is None) is isinstance(compared, ast.Is)
        return UNKNOWN
    numeric = isinstance(compared, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
    read = run.number if numeric else run.value
    left, right = read(node.left), read(node.comparators[0])
    if not is_known(left) or not is_known(right) or isinstance(left, Tensor) or isinstance(right, Tensor):
        return UNKNOWN
    return _COMPARISONS[type(compared)](left, right)


def _choice(run: Run, node: ast.IfExp, hint: str) -> Any:
    test = run.value(node.test)
    if is_known(test):
        return run.value(node.body if test else node.orelse, hint)
    first = run.value(node.body, hint)
    return run.value(node.orelse, hint) if first is UNKNOWN or first is None else first


# -- calls ----------------------------------------------------------------------------------------------------------


def _call(run: Run, node: ast.Call, hint: str) -> Any:
    dotted = dotted_name(node.func) or ""
    head = dotted.partition(".")[0]
    if dotted and head not in run.names:
        origin = run.module.origin(dotted)
        known = FUNCTIONS.get(origin) or (FUNCTIONS.get(dotted) if "." not in dotted else None)
        if known is None and origin.startswith(("torch.", "triton.")):
            known = FUNCTIONS.get("*." + origin.rpartition(".")[2])
            if known is None and origin.count(".") == 1:
                known = FUNCTIONS["torch.*"]
        if known is not None:
            return known(run, node, hint)
        called = run.host.global_value(run.module, dotted)
        if isinstance(called, HostFunction):
            return _called(run, called, node)
    if isinstance(node.func, ast.Attribute):
        owner = run.value(node.func.value)
        if isinstance(owner, Tensor):
            method = METHODS.get(node.func.attr)
            return owner if method is None else method(run, owner, node, hint)
        if isinstance(owner, dict) and node.func.attr == "get" and node.args:
            key = run.value(node.args[0])
            return owner.get(key, run.value(node.args[1]) if len(node.args) > 1 else None)
    called = run.value(node.func)
    return _called(run, called, node) if isinstance(called, HostFunction) else UNKNOWN


def _called(run: Run, called: HostFunction, node: ast.Call) -> Any:
    """The value that a function of the project returns."""
    function = called.node
    names = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    plain = [argument for argument in node.args if not isinstance(argument, ast.Starred)]
    given = {name: run.value(argument, name) for name, argument in zip(names, plain, strict=False)}
    given.update({k.arg: run.value(k.value, k.arg) for k in node.keywords if k.arg is not None})
    return run.host.returned_by(called, {name: value for name, value in given.items() if value is not UNKNOWN})


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.RShift: operator.rshift,
}

_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, many: item in many,
    ast.NotIn: lambda item, many: item not in many,
}


def operate(kind: ast.operator, left: Any, right: Any) -> Any:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Tensor):
            return Tensor(one.dtype or (other.dtype if isinstance(other, Tensor) else None))
    if not is_known(left) or not is_known(right):
        return UNKNOWN
    if isinstance(kind, (ast.Pow, ast.LShift)):
        small = isinstance(right, int) and abs(right) <= 64 and isinstance(left, (int, float)) and abs(left) <= 4096
        return (left**right if isinstance(kind, ast.Pow) else left << right) if small else UNKNOWN
    if isinstance(kind, ast.Mult) and not all(isinstance(value, (int, float)) for value in (left, right)):
        return UNKNOWN
    perform = _OPERATORS.get(type(kind))
    try:
        return UNKNOWN if perform is None else perform(left, right)
    except (ArithmeticError, TypeError, ValueError):
        return UNKNOWN


HANDLERS: dict[type[ast.expr], Handler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.Dict: _dict,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Call: _call,
}
