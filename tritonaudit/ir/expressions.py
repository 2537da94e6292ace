"""What expressions are: names, attributes, subscripts, operators and comparisons."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.ir import attributes, calls, subscripts
from tritonaudit.ir.arithmetic import binary, broadcast, no_value, written
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.names import Refusal, Refused
from tritonaudit.ir.values import (
    ANY,
    FLOATS,
    INTEGERS,
    UNKNOWN,
    Argument,
    Const,
    Missing,
    Named,
    Spent,
    Tensor,
    Tuple,
    Value,
    as_tensor,
    differ,
    joined,
    text_of_type,
)
from tritonaudit.kernel.prints import is_printed_by_flag

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader


def evaluate(reader: Reader, node: ast.expr) -> Value:
    """The value of an expression."""
    handler = _HANDLERS.get(type(node))
    value = reader.values[id(node)] = UNKNOWN if handler is None else handler(reader, node)
    return value


def statement(reader: Reader, node: ast.expr) -> None:
    """An expression that is a statement: what it gives is dropped."""
    if isinstance(node, ast.Call):
        calls.call(reader, node, dropped=True)
    else:
        evaluate(reader, node)


# -- names -------------------------------------------------------------------------------------------------------


def _name(reader: Reader, node: ast.Name) -> Value:
    value = reader.state.get(node.id)
    if isinstance(value, Missing):
        reader.mistake(MistakeKind.ONE_PATH, node, value.why, name=node.id, line=value.line)
        return UNKNOWN
    if isinstance(value, Spent):
        reader.mistake(MistakeKind.LOOP_VARIABLE, node, name=node.id, line=value.line)
        return UNKNOWN
    if value is not None:
        return value
    found = reader.names().meaning(reader.frame.function, node.id)
    if isinstance(found, Refused):
        _refused(reader, node, found)
        return UNKNOWN
    return found


def _refused(reader: Reader, node: ast.Name, found: Refused) -> None:
    if found.why is Refusal.UNDEFINED:
        reader.mistake(MistakeKind.UNDEFINED, node, name=node.id)
    elif found.why is Refusal.PYTHON_BUILTIN:
        reader.mistake(MistakeKind.PYTHON_BUILTIN, node, name=node.id)
    elif found.why is Refusal.NONE_GLOBAL:
        reader.mistake(MistakeKind.GLOBAL, node, "none", until=(3, 3), name=node.id)
    elif found.why is Refusal.ANNOTATED_GLOBAL:
        reader.mistake(MistakeKind.GLOBAL, node, "annotated", since=(3, 3), name=node.id)
    else:
        what = "class" if isinstance(found.node, ast.ClassDef) else "value"
        reader.mistake(MistakeKind.GLOBAL, node, what, since=(3, 0), name=node.id)


def _constant(reader: Reader, node: ast.Constant) -> Value:
    return Const(node.value)


def _tuple(reader: Reader, node: ast.Tuple | ast.List) -> Value:
    items = [evaluate(reader, element) for element in node.elts]
    return UNKNOWN if any(isinstance(e, ast.Starred) for e in node.elts) else Tuple(tuple(items), literal=True).bounded


def _joined_string(reader: Reader, node: ast.JoinedStr) -> Value:
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = evaluate(reader, part.value)
            if isinstance(value, Tuple) or (isinstance(value, Tensor) and not value.free):
                function = reader.frame.function
                what = "printed" if is_printed_by_flag(function.module, function.jit, node) else ""
                reader.mistake(MistakeKind.FSTRING, part, what, text=ast.unparse(part.value))
                return UNKNOWN
    return Const("f-string") if _is_plain(node) else Const(ANY)


def _is_plain(node: ast.JoinedStr) -> bool:
    """All f-strings are strings; the text of one does not matter to any rule."""
    return True


# -- operators ---------------------------------------------------------------------------------------------------


def _binary(reader: Reader, node: ast.BinOp) -> Value:
    return operate(reader, node, node.op, node.left, node.right)


def operate(reader: Reader, node: ast.AST, op: ast.AST, left: ast.expr, right: ast.expr) -> Value:
    """`left op right`."""
    first, second = evaluate(reader, left), evaluate(reader, right)
    _mask_arithmetic(reader, node, op, first, second)
    return _operated(reader, node, op, (first, left), (second, right))


def _operated(reader: Reader, node: ast.AST, op: ast.AST, left: Argument, right: Argument) -> Value:
    value = binary(reader, node, op, left[0], right[0])
    return reader.result(_NAMES.get(type(op), type(op).__name__), node, {"left": left, "right": right}, value)


_NAMES: dict[type[ast.AST], str] = {
    ast.Sub: "Subtract", ast.Mult: "Multiply", ast.Div: "Divide", ast.FloorDiv: "FloorDivide", ast.Mod: "Modulo",
    ast.Pow: "Power", ast.LShift: "LeftShift", ast.RShift: "RightShift", ast.Lt: "LessThan", ast.LtE: "LessThanEqual",
    ast.Gt: "GreaterThan", ast.GtE: "GreaterThanEqual", ast.Eq: "Equal", ast.NotEq: "NotEqual",
    ast.USub: "Minus", ast.Not: "Not", ast.Invert: "BitInvert", ast.UAdd: "Plus",
}  # fmt: skip


def _mask_arithmetic(reader: Reader, node: ast.AST, op: ast.AST, left: Value, right: Value) -> None:
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or not isinstance(op, (ast.Add, ast.Sub)):
        return
    if left.dtype == "i1" == right.dtype:
        symbol = "+" if isinstance(op, ast.Add) else "-"
        reader.mistake(MistakeKind.MASK_ARITHMETIC, node, symbol, text=ast.unparse(node))


def _unary(reader: Reader, node: ast.UnaryOp) -> Value:
    value = evaluate(reader, node.operand)
    found = _of_sign(reader, node, value)
    return reader.result(_NAMES[type(node.op)], node, {"operand": (value, node.operand)}, found)


def _of_sign(reader: Reader, node: ast.UnaryOp, value: Value) -> Value:
    if isinstance(value, Const):
        return _folded_unary(node.op, value)
    if not isinstance(value, Tensor):
        return UNKNOWN
    if isinstance(node.op, ast.Not):
        if (value.dtype in INTEGERS and value.dtype != "i1") or value.dtype in FLOATS:
            reader.mistake(
                MistakeKind.BOOLEAN_OF_NUMBERS, node, "not", text=ast.unparse(node), type=text_of_type(value)
            )
        return Tensor("i1", value.shape, value.free)
    if isinstance(node.op, ast.UAdd):
        reader.mistake(MistakeKind.OPERANDS, node, "plus", symbol="+", left=text_of_type(value), right="")
        return value
    if isinstance(node.op, ast.Invert) and (value.dtype in FLOATS or value.is_pointer):
        reader.mistake(MistakeKind.OPERANDS, node, "invert", symbol="~", left=text_of_type(value), right="")
        return UNKNOWN
    if isinstance(node.op, ast.USub):
        if value.is_pointer:
            reader.mistake(MistakeKind.OPERANDS, node, "minus", symbol="-", left=text_of_type(value), right="")
            return UNKNOWN
        if value.dtype == "i1":
            reader.mistake(MistakeKind.MASK_ARITHMETIC, node, "minus", text=ast.unparse(node))
    return value


def _folded_unary(op: ast.unaryop, value: Const) -> Value:
    if not value.known:
        return value
    try:
        if isinstance(op, ast.Not):
            return Const(not value.value)
        if isinstance(op, ast.USub):
            return Const(-value.value)
        return Const(~value.value if isinstance(op, ast.Invert) else +value.value)
    except TypeError:
        return UNKNOWN


_SHORT_CIRCUITS = (3, 4)
"""The release from which what a constant decides leaves out the rest of an `and` or `or`."""


def _read_all(reader: Reader, nodes: list[ast.expr]) -> None:
    """Operands that older releases compile although their value does not matter, with what only they say of them."""
    with reader.only_before(_SHORT_CIRCUITS):
        for node in nodes:
            evaluate(reader, node)


def _boolean(reader: Reader, node: ast.BoolOp) -> Value:
    """`and` and `or`: constants decide at once, tensors are combined element by element."""
    conjunction = isinstance(node.op, ast.And)
    if len(node.values) > 2:
        reader.mistake(MistakeKind.LONG_CHAIN, node, until=(3, 4), operator="and" if conjunction else "or")
    kept: list[Tensor] = []
    parts: dict[str, Argument] = {}
    found = _of_parts(reader, node, conjunction, kept, parts)
    return reader.result("and" if conjunction else "or", node, parts, found)


def _of_parts(
    reader: Reader, node: ast.BoolOp, conjunction: bool, kept: list[Tensor], parts: dict[str, Argument]
) -> Value:
    unsure = False
    last: Value = UNKNOWN
    for number, part in enumerate(node.values):
        last = evaluate(reader, part)
        parts[str(number)] = (last, part)
        if isinstance(last, Const):
            if not last.known:
                unsure = True
            elif bool(last.value) is not conjunction:
                if reader.before(_SHORT_CIRCUITS) is not False:
                    _read_all(reader, node.values[number + 1 :])
                return last if not unsure and not kept else UNKNOWN
        elif isinstance(last, Tensor):
            kept.append(last)
        else:
            unsure = True
    if not kept:
        return Const(ANY) if unsure and isinstance(last, Const) else UNKNOWN if unsure else last
    return UNKNOWN if unsure else _combined(reader, node, kept)


def _combined(reader: Reader, node: ast.BoolOp, kept: list[Tensor]) -> Value:
    if len(kept) == 1:
        return kept[0]
    numbers = [value for value in kept if value.dtype is not None and value.dtype != "i1" and not value.is_pointer]
    if numbers and not any(value.free for value in kept):
        reader.mistake(
            MistakeKind.BOOLEAN_OF_NUMBERS, node, "and" if isinstance(node.op, ast.And) else "or",
            text=ast.unparse(node), type=text_of_type(numbers[0]),
        )  # fmt: skip
    result: Value = kept[0]
    for value in kept[1:]:
        result = Tensor("i1", broadcast(reader, node, result, value))
    free = any(value.free for value in kept)
    return Tensor("i1", result.shape if isinstance(result, Tensor) else None, free)


def _compare(reader: Reader, node: ast.Compare) -> Value:
    left = evaluate(reader, node.left)
    values = [evaluate(reader, comparator) for comparator in node.comparators]
    if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
        reader.mistake(MistakeKind.MEMBERSHIP, node, text=ast.unparse(node))
        return UNKNOWN
    if len(node.ops) > 1:
        found = _chained(reader, node, left, values)
        parts = zip((left, *values), (node.left, *node.comparators), strict=True)
        arguments: dict[str, Argument] = {str(number): part for number, part in enumerate(parts)}
        return reader.result("chained", node, arguments, found, tuple(_NAMES.get(type(op), "") for op in node.ops))
    found = _compared(reader, node, node.ops[0], left, values[0])
    name = _NAMES.get(type(node.ops[0]), type(node.ops[0]).__name__)
    return reader.result(name, node, {"left": (left, node.left), "right": (values[0], node.comparators[0])}, found)


def _chained(reader: Reader, node: ast.Compare, left: Value, values: list[Value]) -> Value:
    tight = next((part for part in (node.left, *node.comparators) if _binds_tighter(part)), None)
    if tight is not None and any(isinstance(v, Tensor) for v in (left, *values)):
        reader.mistake(
            MistakeKind.PRECEDENCE, node, "silent", since=(3, 9), text=ast.unparse(node), part=ast.unparse(tight)
        )
        reader.mistake(MistakeKind.LONG_CHAIN, node, "precedence", until=(3, 9), part=ast.unparse(tight))
    else:
        reader.mistake(MistakeKind.LONG_CHAIN, node, "comparison", until=(3, 9), text=ast.unparse(node))
    result: Value = UNKNOWN
    for op, first, second in zip(node.ops, (left, *values[:-1]), values, strict=True):
        one = _compared(reader, node, op, first, second)
        result = one if result == UNKNOWN else Tensor("i1", broadcast(reader, node, result, one))
    return result


def _binds_tighter(node: ast.expr) -> bool:
    """`3 & i` between comparisons: who writes it means `& i < n`."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitAnd, ast.BitOr))


def _compared(reader: Reader, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
    if isinstance(op, (ast.Is, ast.IsNot)):
        return _identity(op, left, right)
    return binary(reader, node, op, left, right)


def _identity(op: ast.cmpop, left: Value, right: Value) -> Value:
    if isinstance(left, Const) and isinstance(right, Const) and left.known and right.known:
        same = left.value is right.value or (left.value == right.value and type(left.value) is type(right.value))
        return Const(same == isinstance(op, ast.Is))
    for value in (left, right):
        if value == UNKNOWN or (isinstance(value, Const) and not value.known):
            return Const(ANY)
        if isinstance(value, Tensor) and value.free:
            return Const(ANY)
    return Const(isinstance(op, ast.IsNot))


def _conditional(reader: Reader, node: ast.IfExp) -> Value:
    condition = evaluate(reader, node.test)
    if isinstance(condition, Const) and condition.known:
        if not isinstance(condition.value, (bool, int, type(None))):
            reader.mistake(
                MistakeKind.CONDITION_KIND, node.test, text=ast.unparse(node.test), value=repr(condition.value)
            )
            return UNKNOWN
        return evaluate(reader, node.body if condition.value else node.orelse)
    with reader.undecided_arms(isinstance(condition, Const)):
        then, other = evaluate(reader, node.body), evaluate(reader, node.orelse)
    return reader.writer.either(_chosen(reader, node, condition, then, other), node, condition, then, other)


def _chosen(reader: Reader, node: ast.IfExp, condition: Value, then: Value, other: Value) -> Value:
    if not isinstance(condition, Tensor) or condition.free:
        return joined(then, other)
    for arm, branch in ((node.body, then), (node.orelse, other)):
        no_value(reader, branch, arm, "an arm of this conditional expression")
    if condition.is_block:
        reader.mistake(MistakeKind.BLOCK_CONDITION, node, "ternary", text=ast.unparse(node.test))
        return UNKNOWN
    then, other = as_tensor(then), as_tensor(other)
    if differ(then, other):
        reader.mistake(MistakeKind.TERNARY_TYPES, node, before=text_of_type(then), after=text_of_type(other))
        return UNKNOWN
    return joined(then, other)


def _comprehension(reader: Reader, node: ast.ListComp) -> Value:
    """A list comprehension over a tuple gives a tuple from 3.5 on; over anything else nothing."""
    generator = node.generators[0]
    over = evaluate(reader, generator.iter)
    if isinstance(over, Named) or (isinstance(generator.iter, ast.Call) and not isinstance(over, Tuple)):
        called = generator.iter.func if isinstance(generator.iter, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "range":
            reader.mistake(MistakeKind.LOOP_OVER, generator.iter, "comprehension", since=(3, 5), text=ast.unparse(node))
        return UNKNOWN
    if not isinstance(over, Tuple) or len(node.generators) != 1 or not isinstance(generator.target, ast.Name):
        return UNKNOWN
    outer = dict(reader.state)
    items: list[Value] = []
    for item in over.items:
        reader.state[generator.target.id] = item
        conditions = [evaluate(reader, condition) for condition in generator.ifs]
        if any(not isinstance(c, Const) or not c.known for c in conditions):
            reader.state = outer
            return UNKNOWN
        if all(isinstance(c, Const) and bool(c.value) for c in conditions):
            items.append(evaluate(reader, node.elt))
    reader.state = {**outer, generator.target.id: over.items[-1]} if over.items else outer
    return Tuple(tuple(items))


def _passed(reader: Reader, node: ast.NamedExpr) -> Value:
    value = evaluate(reader, node.value)
    reader.bind(node.target, value, node)
    return reader.state.get(node.target.id, UNKNOWN)


def _starred(reader: Reader, node: ast.Starred) -> Value:
    return evaluate(reader, node.value)


_HANDLERS: dict[type[ast.expr], Callable[[Any, Any], Value]] = {
    ast.Name: _name,
    ast.Constant: _constant,
    ast.Tuple: _tuple,
    ast.List: _tuple,
    ast.JoinedStr: _joined_string,
    ast.Attribute: attributes.of_value,
    ast.Subscript: subscripts.subscript,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Call: calls.call,
    ast.ListComp: _comprehension,
    ast.NamedExpr: _passed,
    ast.Starred: _starred,
}

__all__ = ["evaluate", "operate", "statement", "written"]
