"""Conditions: those that a constant decides, those that a launch decides, and those of the run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.model import Block
from tritonaudit.ir.values import (
    ANY_INT,
    NONE,
    UNKNOWN,
    Const,
    Missing,
    Tensor,
    Value,
    differ,
    joined,
    text_of_type,
)
from tritonaudit.source.nodes import names_in

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader, State


def conditional(reader: Reader, node: ast.If) -> None:
    condition = reader.evaluate(node.test)
    if isinstance(condition, Const) and condition.known:
        if not isinstance(condition.value, (bool, int, type(None))):
            reader.mistake(
                MistakeKind.CONDITION_KIND, node.test, text=ast.unparse(node.test), value=repr(condition.value)
            )
        else:
            reader.skipped += node.orelse if condition.value else node.body
            _decided_if(reader, node, condition)
            return
    if isinstance(condition, Tensor) and not condition.free and not _is_of_caller(reader, node.test):
        if _is_decided_block(condition):
            reader.mistake(MistakeKind.BLOCK_CONDITION, node.test, "if", text=ast.unparse(node.test))
        elif condition.is_block and condition.numel == 1:
            reader.mistake(MistakeKind.BLOCK_CONDITION, node.test, "one", until=(3, 4), text=ast.unparse(node.test))
        _runtime_if(reader, node, condition)
    else:
        _undecided_if(reader, node, condition)


def _decided_if(reader: Reader, node: ast.If, condition: Const) -> None:
    """A constant condition: one arm is compiled, and it is written down on which condition."""
    other = Block()
    with reader.writer.inside() as arm:
        reader.block(node.body if condition.value else node.orelse)
    then, orelse = (arm, other) if condition.value else (other, arm)
    reader.writer.branch(node, condition, then, orelse, is_constant=True)
    reader.writer.block.is_ended = reader.writer.block.is_ended or arm.is_ended


def _is_of_caller(reader: Reader, test: ast.expr) -> bool:
    """Whether a helper that is read by itself tests what its caller may give it as constants, each by itself."""
    values = [reader.state.get(name) for name in names_in(test)] if reader.is_helper else []
    if not values or not all(isinstance(value, Tensor) and value.free for value in values):
        return False
    return all(len(names_in(node)) < 2 for node in ast.walk(test) if isinstance(node, ast.Compare))


def _is_decided_block(value: Tensor) -> bool:
    return value.is_block and value.numel != 1


def _undecided_if(reader: Reader, node: ast.If, condition: Value) -> None:
    """A constant condition that a launch decides: what either arm leaves may be there."""
    before = dict(reader.state)
    undecided = reader.undecided
    reader.arms += 1
    with reader.writer.inside() as first:
        reader.block(node.body)
    then, reader.state = reader.state, dict(before)
    with reader.writer.inside() as second:
        reader.block(node.orelse)
    reader.arms -= 1
    branch = reader.writer.branch(node, condition, first, second, is_constant=True)
    merged: State = {}
    for name in {*then, *reader.state}:
        left, right = then.get(name), reader.state.get(name)
        if left is None or right is None:
            value = left if right is None and left is not None else right or UNKNOWN
        else:
            value = left if left is right else joined(left, right)
        merged[name] = reader.writer.met(value, branch, left, right)
    one_arm = {name for name in merged if (name in then) != (name in reader.state)}
    reader.undecided = undecided | one_arm
    reader.state = merged


def _runtime_if(reader: Reader, node: ast.If, condition: Value) -> None:
    """A condition of the run: both arms are compiled, and must agree on what they leave."""
    before = dict(reader.state)
    outer, reader.assigned = reader.assigned, {}
    reader.branches += 1
    with reader.writer.inside() as first:
        reader.block(node.body)
    then, then_nodes = reader.state, reader.assigned
    reader.state, reader.assigned = dict(before), {}
    with reader.writer.inside() as second:
        reader.block(node.orelse)
    reader.branches -= 1
    other, other_nodes = reader.state, reader.assigned
    branch = reader.writer.branch(node, condition, first, second, is_constant=False)
    merged = dict(before)
    for name in {*then, *other}:
        if name in before and then[name] is other[name] is before[name]:
            continue
        value = _merged(reader, name, before, then, other, then_nodes, other_nodes, node)
        merged[name] = reader.writer.met(value, branch, then.get(name), other.get(name))
    reader.assigned = {**outer, **then_nodes, **other_nodes}
    reader.state = merged
    if node.orelse and _returns(node.body) and _returns(node.orelse):
        reader.mistake(MistakeKind.BOTH_RETURN, node, until=(3, 2))


def _merged(
    reader: Reader,
    name: str,
    before: State,
    then: State,
    other: State,
    then_nodes: Mapping[str, ast.AST],
    other_nodes: Mapping[str, ast.AST],
    node: ast.If,
) -> Value:
    if name in before:
        initial = before[name]
        for values, nodes in ((then, then_nodes), (other, other_nodes)):
            if name in nodes and _leaves_constant(reader, initial, values[name]):
                until = (3, 5) if initial == NONE else None
                reader.mistake(
                    MistakeKind.BRANCH_TYPES, nodes[name], "redefined", until=until,
                    name=name, before=text_of_type(initial), after=text_of_type(values[name]),
                )  # fmt: skip
                return UNKNOWN
            if name in nodes and differ(initial, values[name]) and not isinstance(initial, Missing):
                reader.mistake(
                    MistakeKind.BRANCH_TYPES, nodes[name], "redefined",
                    name=name, before=text_of_type(initial), after=text_of_type(values[name]),
                )  # fmt: skip
                return UNKNOWN
    elif name not in then or name not in other:
        arm = then if name in then else other
        value = arm[name]
        if isinstance(value, Missing) or value == UNKNOWN or name in reader.undecided:
            return value
        return Missing("if" if name in then else "else", node.lineno)
    elif isinstance(missing := then[name], Missing) or isinstance(missing := other[name], Missing):
        return missing  # an `if` inside an arm sets it on one of its own paths
    elif differ(then[name], other[name]):
        reader.mistake(
            MistakeKind.BRANCH_TYPES, other_nodes.get(name, node), "arms",
            name=name, before=text_of_type(then[name]), after=text_of_type(other[name]),
        )  # fmt: skip
        return UNKNOWN
    left, right = then.get(name, UNKNOWN), other.get(name, UNKNOWN)
    if isinstance(left, Const) and isinstance(right, Const) and left != right:
        return UNKNOWN
    return joined(left, right)


def _leaves_constant(reader: Reader, initial: Value, after: Value) -> bool:
    """Whether a constant becomes a value of the run, in an arm that is surely compiled."""
    return (
        isinstance(initial, Const)
        and (initial.known or initial.value is ANY_INT)
        and isinstance(after, Tensor)
        and not after.free
        and reader.is_sure
    )


def _returns(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], ast.Return)
