"""Loops: what they run over, and the variables that they carry from one round to the next."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tritonaudit.ir.arithmetic import integer_divisions, promoted_integers
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.model import Carried, Loop, Operand, Operation
from tritonaudit.ir.values import (
    ANY_FLOAT,
    ANY_INT,
    INTEGERS,
    NONE,
    UNKNOWN,
    Const,
    Missing,
    Named,
    Spent,
    Tensor,
    Tuple,
    Value,
    differ,
    dtype_of_number,
    text_of_type,
)
from tritonaudit.ir.writing import CARRIED, made_by, made_of
from tritonaudit.source.nodes import stored_in
from tritonaudit.source.outline import dotted_name

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader, State

Bounds = dict[str, Operand]

_UNROLLED = 8
"""Rounds of a `tl.static_range` that are read one by one."""


def for_loop(reader: Reader, node: ast.For) -> None:
    """`for … in` a `range`, `tl.range` or `tl.static_range`; the front end takes nothing else."""
    iterated = node.iter
    kind = _kind(reader, iterated)
    if kind is None or not isinstance(iterated, ast.Call):
        _read_unknown(reader, node)
        return
    values = [reader.evaluate(arg.value if isinstance(arg, ast.Starred) else arg) for arg in iterated.args]
    bounds: Bounds = {str(place): one for place, one in enumerate(zip(values, iterated.args, strict=True))}
    if not iterated.args and not iterated.keywords:
        reader.mistake(MistakeKind.ARGUMENTS, iterated, "missing", name=ast.unparse(iterated.func), parameter="end")
    for keyword in iterated.keywords:
        bounds[keyword.arg or "**"] = (reader.evaluate(keyword.value), keyword.value)
        _check_keyword(reader, kind, keyword)
    if kind == "static_range":
        _static(reader, node, values, iterated, bounds)
    else:
        _runtime(reader, node, values, iterated, bounds)


def _kind(reader: Reader, node: ast.expr) -> str | None:
    """Which of the three iterators it is; None, with a mistake where that is sure, for anything else."""
    if not isinstance(node, ast.Call):
        value = reader.evaluate(node)
        if value != UNKNOWN or isinstance(node, (ast.List, ast.Tuple, ast.Name)):
            reader.mistake(MistakeKind.LOOP_OVER, node, text=ast.unparse(node))
        return None
    called = reader.evaluate(node.func)
    if isinstance(called, Named):
        last = called.origin.rpartition(".")[2]
        if called.origin == "range" or (called.origin.startswith("triton.") and last in ("range", "static_range")):
            return "python" if called.origin == "range" else last
        if called.origin.startswith("triton."):
            return None
    elif called == UNKNOWN and (dotted_name(node.func) or "").endswith("static_range"):
        return None
    return None


def _check_keyword(reader: Reader, kind: str, keyword: ast.keyword) -> None:
    if kind == "python" and keyword.arg is not None:
        reader.mistake(MistakeKind.LOOP_KEYWORD, keyword, "ignored", name=keyword.arg)


def _read_unknown(reader: Reader, node: ast.For) -> None:
    """A loop over something else: its body is read for what is wrong in it whatever it runs over."""
    before = dict(reader.state)
    left = _written(reader, node, "unknown", {}, UNKNOWN, lambda: reader.block(node.body))
    for name, value in before.items():
        if reader.state.get(name) != value:
            reader.state[name] = UNKNOWN
    _leave(reader, left)


# -- tl.static_range ---------------------------------------------------------------------------------------------


def _static(reader: Reader, node: ast.For, values: list[Value], call: ast.Call, bounds: Bounds) -> None:
    for value, argument in zip(values, call.args, strict=False):
        if isinstance(value, Const) and (isinstance(value.value, float) or value.value is ANY_FLOAT):
            shown = repr(value.value) if value.known else "a quotient"
            reader.mistake(
                MistakeKind.LOOP_BOUND, argument, "constant", text=ast.unparse(argument), value=shown, divisions=()
            )
        if isinstance(value, Tensor) and not value.free:
            reader.mistake(MistakeKind.NEEDS_CONSTANT, argument, "static_range", text=ast.unparse(argument))
        elif isinstance(value, Tensor):
            reader.mistake(MistakeKind.NEEDS_CONSTANT, argument, "static_range parameter", text=ast.unparse(argument))
    rounds = _rounds(values)
    if rounds is None or rounds[_UNROLLED:] or not reader.may_repeat(len(rounds)):
        _read_static(reader, node, bounds)
        return
    with reader.on_trial():  # for its operations; the types are those of each round
        left = _read_static(reader, node, bounds)
    with reader.writer.silent():
        for number in rounds:
            if isinstance(node.target, ast.Name):
                reader.state[node.target.id] = Const(number)
            reader.block(node.body)
    _leave(reader, left)


def _read_static(reader: Reader, node: ast.For, bounds: Bounds) -> dict[str, Value]:
    before = dict(reader.state)
    left = _written(reader, node, "static_range", bounds, Const(ANY_INT), lambda: reader.block(node.body))
    for name, value in before.items():
        if reader.state.get(name) != value:
            reader.state[name] = UNKNOWN
    _leave(reader, left)
    return {name: value for name, value in reader.state.items() if value is not before.get(name)}


def _rounds(values: list[Value]) -> range | None:
    numbers = [value.value for value in values if isinstance(value, Const) and type(value.value) is int]
    if len(numbers) != len(values) or not 1 <= len(numbers) <= 3 or (len(numbers) == 3 and numbers[2] == 0):
        return None
    return range(*numbers)


# -- range and tl.range ------------------------------------------------------------------------------------------


def _runtime(reader: Reader, node: ast.For, values: list[Value], call: ast.Call, bounds: Bounds) -> None:
    dtypes: list[str | None] = []
    for value, argument in zip(values, call.args, strict=False):
        dtype = _bound(reader, value, argument)
        dtypes.append(dtype)
    counter = Tensor(_counter(dtypes), ())
    if isinstance(node.target, ast.Name):
        reader.assigned[node.target.id] = node
    _carry(reader, node, "range", bounds, counter)
    if isinstance(node.target, ast.Name):
        reader.state[node.target.id] = Spent(node.lineno)


def _bound(reader: Reader, value: Value, argument: ast.expr) -> str | None:
    """The dtype of a bound; a mistake where it is no integer, or a block."""
    if isinstance(value, Const):
        if not value.known:
            return None
        dtype = dtype_of_number(value.value)
        if dtype is None or dtype in ("fp32", "fp64"):
            divisions = integer_divisions(reader, argument)
            reader.mistake(
                MistakeKind.LOOP_BOUND, argument, "constant",
                text=ast.unparse(argument), value=repr(value.value), divisions=divisions,
            )  # fmt: skip
        return dtype
    if isinstance(value, Tensor):
        if value.dtype is not None and value.dtype not in INTEGERS:
            divisions = integer_divisions(reader, argument)
            reader.mistake(
                MistakeKind.LOOP_BOUND, argument, "dtype",
                text=ast.unparse(argument), type=text_of_type(value), divisions=divisions,
            )  # fmt: skip
        elif value.is_block and value.numel != 1:
            reader.mistake(
                MistakeKind.LOOP_BOUND, argument, "block", text=ast.unparse(argument), type=text_of_type(value)
            )
        return value.dtype
    return None


def _counter(dtypes: list[str | None]) -> str | None:
    known = [dtype for dtype in dtypes if dtype in INTEGERS]
    if not dtypes or len(known) != len(dtypes):
        return None
    result = "i32"
    for dtype in known:
        result = promoted_integers(result, dtype)
    return result


def while_loop(reader: Reader, node: ast.While) -> None:
    """`while`: its condition is a scalar of the run."""
    with reader.writer.silent():
        condition = reader.evaluate(node.test)
    if isinstance(condition, Const):
        reader.mistake(MistakeKind.LOOP_CONSTANT, node.test, text=ast.unparse(node.test))
    elif isinstance(condition, Tensor) and not condition.free:
        if condition.is_block:
            reader.mistake(MistakeKind.BLOCK_CONDITION, node.test, "while", text=ast.unparse(node.test))
        elif condition.dtype not in (None, "i1"):
            reader.mistake(MistakeKind.LOOP_NUMBER, node.test, until=(3, 9), text=ast.unparse(node.test))
    _carry(reader, node, "while", {}, None)


_FREE_COUNTER = (3, 6)
"""The release from which a loop's variable may change its type in a round."""


def _carry(reader: Reader, node: ast.For | ast.While, kind: str, bounds: Bounds, number: Value | None) -> None:
    """Read the body once; a variable that it changes must keep its type, and one that it makes ends with it."""
    before: State = dict(reader.state)
    counter = node.target.id if isinstance(node, ast.For) and isinstance(node.target, ast.Name) else None
    outer, reader.assigned = reader.assigned, {}
    reader.frame.loops.append(node)
    left = _written(reader, node, kind, bounds, number, lambda: _round(reader, node))
    reader.frame.loops.pop()
    made, reader.assigned = reader.assigned, {**outer, **reader.assigned}
    after, reader.state = reader.state, before
    for name in made:
        if name == counter:
            counted, final = number or UNKNOWN, after.get(name, UNKNOWN)
            if isinstance(counted, Tensor) and counted.dtype is not None and differ(counted, final):
                reader.mistake(
                    MistakeKind.LOOP_TYPE, made[name], until=_FREE_COUNTER,
                    name=name, before=text_of_type(counted), after=text_of_type(final),
                )  # fmt: skip
            continue
        if name not in before:
            value = after.get(name, UNKNOWN)
            keep = value == UNKNOWN or isinstance(value, (Missing, Spent)) or name in reader.undecided
            reader.state[name] = value if keep else Missing("loop", node.lineno)
        else:
            reader.state[name] = _carried(reader, name, before[name], after.get(name, UNKNOWN), made[name])
    _leave(reader, left)


def _round(reader: Reader, node: ast.For | ast.While) -> None:
    if isinstance(node, ast.While):
        reader.evaluate(node.test)
    reader.block(node.body)


def _written(
    reader: Reader,
    node: ast.For | ast.While,
    kind: str,
    bounds: Bounds,
    number: Value | None,
    read: Callable[[], None],
) -> dict[str, Value]:
    """Write a loop down with its body, which is read once; what the loop leaves of each variable that it changes."""
    writer, names = reader.writer, stored_in(node) & reader.state.keys()
    counter = None if number is None else reader.operation("counter", node, {}, number)
    heads: dict[str, tuple[Value, Operation]] = {}
    if counter is not None and isinstance(node, ast.For):
        target = node.target.id if isinstance(node.target, ast.Name) else None
        names -= {target}
        reader.bind_counter(node, made_by(number or UNKNOWN, counter))
    for name in sorted(names):
        initial = reader.state[name]
        if isinstance(initial, CARRIED):
            head = reader.operation("carried", node, {"initial": (initial, node)}, initial, name)
            heads[name] = initial, head
            reader.state[name] = made_by(initial, head)
    with writer.inside() as body:
        read()
    carried = tuple(Carried(name, first, head, reader.state.get(name, first)) for name, (first, head) in heads.items())
    writer.add(Loop(node, kind, bounds, counter, carried, body, writer.calls))
    left: dict[str, Value] = {}
    for one in carried:
        arguments: Bounds = {"head": (made_by(one.initial, one.head), node), "last": (one.last, node)}
        left[one.name] = made_by(one.last, reader.operation("left", node, arguments, one.last, one.name), writer)
    return left


def _leave(reader: Reader, left: Mapping[str, Value]) -> None:
    """Give variables that a loop has changed what it leaves, of whatever type they are now."""
    for name, value in left.items():
        now = reader.state.get(name)
        if now is not None and made_of(value) is not None:
            reader.state[name] = made_by(now, made_of(value))


def _carried(reader: Reader, name: str, initial: Value, final: Value, node: ast.AST) -> Value:
    if isinstance(initial, (Missing, Spent)):
        return initial
    if isinstance(initial, Const):
        if initial == NONE and isinstance(final, Tensor) and reader.is_sure:
            reader.mistake(MistakeKind.LOOP_TYPE, node, name=name, before="None", after=text_of_type(final))
        elif initial.known and initial.value == 1 and _is_argument(reader, name):
            reader.mistake(MistakeKind.ARGUMENT_IS_ONE, node, name=name)
        elif (initial.known and initial.value is not None) or (not initial.known and _is_constexpr(reader, name)):
            reader.mistake(MistakeKind.CONSTANT_IN_LOOP, node, name=name)
        return UNKNOWN
    if isinstance(initial, Tuple) and isinstance(final, Tuple) and len(initial.items) != len(final.items):
        for since, until in ((None, (3, 3)), ((3, 5), None)):  # two releases kept what came first
            reader.mistake(
                MistakeKind.LOOP_TYPE, node, since=since, until=until,
                name=name, before=text_of_type(initial), after=text_of_type(final),
            )  # fmt: skip
        return UNKNOWN
    if differ(initial, final):
        reader.mistake(MistakeKind.LOOP_TYPE, node, name=name, before=text_of_type(initial), after=text_of_type(final))
        return UNKNOWN
    if isinstance(initial, Tuple) or isinstance(final, Tuple) or initial == final:
        return initial
    return initial if isinstance(final, Tensor) and isinstance(initial, Tensor) else UNKNOWN


def _is_argument(reader: Reader, name: str) -> bool:
    return any(p.name == name and not p.constexpr for p in reader.frame.function.jit.parameters)


def _is_constexpr(reader: Reader, name: str) -> bool:
    return any(p.name == name and p.constexpr for p in reader.frame.function.jit.parameters)
