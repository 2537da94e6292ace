"""Sums in fp32 instead of 16 bits, cast at the end where they must be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import libcst as cst

from tritonaudit.domains.facts import Accumulation, KernelFlow
from tritonaudit.domains.value import HALF, Value
from tritonaudit.finding import Edit, Fix, Span
from tritonaudit.ir.model import Operation
from tritonaudit.queries.dependence import operations_of
from tritonaudit.queries.staying_wide import may_be_wide
from tritonaudit.source.edits import as_operand, inserted
from tritonaudit.source.outline import span_of

_DOT = "triton.language.dot"
_REDUCED = ("sum", "cumsum")
_SUMS = ("triton.language.sum", "triton.language.cumsum")
_MAKERS = ("triton.language.zeros", "triton.language.full")


def wide_sum(flow: KernelFlow, call: cst.CSTNode, given: Value) -> Fix | None:
    """`tl.sum(x.to(tl.float32))`, cast back where something needs the type that it has.

    A cast to 16 bits in the call itself goes. Where the terms were rounded before it there is no fix: adding them in
    fp32 does not bring back what was lost.
    """
    narrow = _dtype(flow, {"fp16": "float16", "bf16": "bfloat16"}.get(given.dtype or ""))
    wide = _dtype(flow, "float32")
    if not isinstance(call, cst.Call) or not call.args or narrow is None or wide is None:
        return None
    operand = call.args[0]
    if operand.star or operand.keyword is not None or flow.module.origin(flow.tree.code(call.func)) not in _SUMS:
        return None
    written = next((one for one in ast.walk(flow.function.node) if flow.tree.node(one) is operand.value), None)
    widened = _uncast(flow, written, wide)
    if not widened and given.narrowed is not None:
        return None
    widened = widened or as_operand(flow.tree, operand, f".to({wide})")
    if _may_be_wide(flow, lambda one: one.name in _REDUCED and flow.tree.node(one.node) is call):
        return Fix(f"add in `{wide}`", widened, safe=True)
    edits = (*widened, *inserted(flow.tree.span(call), after=f".to({narrow})"))
    return Fix(f"add in `{wide}` and cast the result", edits, safe=True)


def wide_accumulator(flow: KernelFlow, accumulation: Accumulation, *, safe: bool) -> Fix | None:
    """The accumulator made in fp32, where it serves for nothing else in that loop, and cast after it where it must be.

    What is cast right before it is added is no longer. There is no fix where a cast would be needed and the accumulator
    is made in a block of its own.
    """
    wide = _dtype(flow, "float32")
    found = _made_and_added(flow, accumulation)
    if found is None or wide is None:
        return None
    made, dtype, added, loop = found
    lines = flow.module.lines
    narrow = ast.get_source_segment(flow.module.text, dtype)
    indent = lines[loop.lineno - 1][: len(lines[loop.lineno - 1]) - len(lines[loop.lineno - 1].lstrip())]
    end = span_of(loop, lines)
    cast = f"\n{indent}{accumulation.name} = {accumulation.name}.to({narrow})"
    last = lines[end.end_line - 1]
    if last[end.end_column - 1 :].strip() and not last[end.end_column - 1 :].strip().startswith("#"):
        return None
    at_end = Span(end.end_line, len(last) + 1, end.end_line, len(last) + 1)
    is_narrow = accumulation.added.dtype in HALF or (accumulation.added.dtype or "").startswith("*")
    edits = (Edit(span_of(dtype, lines), wide), *(_uncast(flow, added, wide) if is_narrow else ()))
    if _may_be_wide(flow, lambda one: (one.name, one.detail, one.node) == ("left", accumulation.name, loop)):
        return Fix(f"accumulate in `{wide}`", edits, safe)
    if not any(made in block and loop in block for block in _blocks(flow.function.node)):
        return None
    edits = (*edits, Edit(at_end, cast))
    return Fix(f"accumulate in `{wide}` and cast after the loop", edits, safe)


def _may_be_wide(flow: KernelFlow, is_it: Callable[[Operation], bool]) -> bool:
    """Whether nothing that uses what this operation gives minds that it is in fp32."""
    if flow.kernel is None or flow.is_helper:
        return False
    made = [one for one in operations_of(flow.kernel.body) if not one.calls and is_it(one)]
    return bool(made) and all(may_be_wide(flow.kernel, one) for one in made)


def _uncast(flow: KernelFlow, added: ast.AST | None, wide: str) -> tuple[Edit, ...]:
    """What is added without its cast to 16 bits where it is in fp32, or else with one to fp32."""
    if not isinstance(added, ast.Call) or not isinstance(added.func, ast.Attribute):
        return ()
    if added.func.attr != "to" or len(added.args) != 1 or added.keywords:
        return ()
    inner, lines = added.func.value, flow.module.lines
    start, end = span_of(inner, lines), span_of(added, lines)
    is_bare = lines[start.end_line - 1][start.end_column - 1 :].startswith(".")
    if not is_bare or not _is_in_fp32(flow, inner):
        return (Edit(span_of(added.args[0], lines), wide),)
    return (Edit(Span(start.end_line, start.end_column, end.end_line, end.end_column), ""),)


def _is_in_fp32(flow: KernelFlow, node: ast.expr) -> bool:
    """Whether an expression is: a matrix product of floats, or what is known to be."""
    if isinstance(node, ast.Call) and flow.module.origin_of(node.func) == _DOT:
        return True
    made = [] if flow.kernel is None else [one for one in operations_of(flow.kernel.body) if one.node is node]
    return bool(made) and all(getattr(one.type, "dtype", None) == "fp32" for one in made)


def _made_and_added(
    flow: KernelFlow, accumulation: Accumulation
) -> tuple[ast.stmt, ast.expr, ast.expr, ast.stmt] | None:
    """What makes the accumulator, and with which dtype, what is added to it, and the outermost loop that does."""
    name, function = accumulation.name, flow.function.node
    stores = [one for one in _names(function, name) if isinstance(one.ctx, ast.Store)]
    line = flow.tree.span(accumulation.node).line
    loops = (one for one in ast.walk(function) if isinstance(one, (ast.For, ast.While)))
    loop = next((one for one in loops if _holds(one, line)), None)
    made = [
        statement
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] in stores
    ]
    if loop is None or len(stores) != 2 or len(made) != 1 or made[0].lineno > loop.lineno:
        return None
    added = [one for one in ast.walk(loop) if isinstance(one, ast.AugAssign) and one.target in stores]
    if len(added) != 1 or not isinstance(added[0].op, ast.Add) or len(_names(loop, name)) != 1:
        return None
    dtype = _made_with(flow, made[0].value)
    return None if dtype is None or _out_dtype(added[0].value) else (made[0], dtype, added[0].value, loop)


def _made_with(flow: KernelFlow, call: ast.expr) -> ast.expr | None:
    """The dtype argument of `tl.zeros` or `tl.full`."""
    if not isinstance(call, ast.Call):
        return None
    origin = flow.module.origin_of(call.func)
    if origin not in _MAKERS:
        return None
    place = 1 if origin.endswith("zeros") else 2
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "dtype"), None)
    return given or (call.args[place] if len(call.args) > place else None)


def _out_dtype(value: ast.expr) -> bool:
    return any(isinstance(node, ast.keyword) and node.arg == "out_dtype" for node in ast.walk(value))


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The statements of each block of a function."""
    for one in ast.walk(node):
        yield from (block for name in ("body", "orelse") if isinstance(block := getattr(one, name, None), list))


def _names(node: ast.AST, name: str) -> list[ast.Name]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Name) and one.id == name]


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or 0)


def _dtype(flow: KernelFlow, name: str | None) -> str | None:
    """A dtype as the file spells it."""
    alias = next((alias for alias, origin in flow.module.names.items() if origin == "triton.language"), None)
    return None if name is None or alias is None else f"{alias}.{name}"
