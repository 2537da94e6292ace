"""What functions return: of a kernel nothing, of a helper values of one type."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    NONE,
    UNKNOWN,
    Const,
    Value,
    as_tensor,
    differ,
    joined,
    text_of_type,
)

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Frame, Reader


def of_kernel(reader: Reader, frame: Frame) -> None:
    for one in frame.returned:
        if one.value != NONE and one.value != UNKNOWN and one.node.value is not None:
            until = (3, 7) if isinstance(one.value, Const) else None
            reader.mistake(MistakeKind.KERNEL_RETURNS, one.node, until=until, text=ast.unparse(one.node.value))


def of_helper(reader: Reader, frame: Frame) -> Value:
    """What a helper returns: all its values must have one type."""
    if not frame.returned:
        return NONE
    first = frame.returned[0]
    result = first.value
    if reader.before((3, 7)):
        result = as_tensor(result)
    for one in frame.returned[1:]:
        if isinstance(result, Const) and isinstance(one.value, Const) and not one.at_run_time:
            result = joined(result, one.value)
            continue
        before, after = as_tensor(first.value), as_tensor(one.value)
        if differ(before, after):
            if not first.undecided and not one.undecided:
                reader.mistake(
                    MistakeKind.RETURN_TYPES, one.node, name=frame.function.jit.name,
                    before=text_of_type(before), after=text_of_type(after),
                )  # fmt: skip
            return UNKNOWN
        met = joined(as_tensor(result), after) if result != one.value else result
        result = reader.writer.either(met, one.node, UNKNOWN, result, one.value)
    if all(one.at_run_time and not one.undecided and one.value != NONE for one in frame.returned):
        _falls_through(reader, frame)
    return result


def _falls_through(reader: Reader, frame: Frame) -> None:
    if _may_fall_through(frame.function.jit.node.body):
        node = frame.returned[-1].node
        reader.mistake(MistakeKind.RETURN_IN_ONE, node, "crash", until=(3, 2), name=frame.function.jit.name)
        reader.mistake(MistakeKind.RETURN_IN_ONE, node, "undefined", since=(3, 2), name=frame.function.jit.name)


def _may_fall_through(body: list[ast.stmt]) -> bool:
    """Whether the end of a body may be reached without a `return`."""
    for statement in body:
        if isinstance(statement, (ast.Return, ast.Raise)):
            return False
        if isinstance(statement, ast.If) and not any(map(_may_fall_through, (statement.body, statement.orelse))):
            return False
        if isinstance(statement, ast.With) and not _may_fall_through(statement.body):
            return False
        if isinstance(statement, (ast.For, ast.While)) and any(isinstance(n, ast.Return) for n in ast.walk(statement)):
            return False
    return True
