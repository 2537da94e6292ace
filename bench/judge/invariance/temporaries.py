"""`temporaries` and `folded`: parts of expressions in kernels get names of their own, or lose them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from bench.judge.invariance.changes import Change, Edit, Kept, New, replaced
from bench.judge.invariance.scopes import scope
from bench.judge.invariance.source import Source
from tritonaudit.source.outline import JitFunction

ACCESSES = frozenset(
    f"triton.language.{name}" for name in ("load", "store", "atomic_add", "atomic_max", "atomic_min", "atomic_xchg")
)
_TENSORS = frozenset(f"triton.language.{name}" for name in ("load", "arange", "program_id", "zeros", "full", "dot"))
_ARITHMETIC = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Tuple),
    *(ast.Slice, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)


def temporaries(source: Source) -> Edit:
    """Addresses and masks of accesses, and the first operand of an assignment, are assigned to names before."""
    number = 0
    changes: list[Change] = []
    for kernel in source.kernels:
        tensors = _tensors(source, kernel)
        for statement in _statements(source, kernel):
            apart = sorted(source.span(node) for node in _parts(source, statement, tensors))
            start = source.span(statement)[0]
            for begin, end in apart:
                number += 1
                name = source.fresh(f"part{number}")
                text = source.text[begin:end]
                # What has several lines needs brackets of its own here.
                text = f"({text})" if "\n" in text else text
                about = source.span(statement)
                changes.append(Change(start, start, (New(f"{name} = {text}\n{source.indent(statement)}", *about),)))
                changes.append(replaced(begin, end, name))
    return Edit(tuple(changes))


def folded(source: Source) -> Edit:
    """What is assigned to a name that only the next statement uses, and once, stands there instead."""
    return Edit(tuple(change for kernel in source.kernels for change in _folded(source, kernel)))


def accessed(source: Source, node: ast.AST) -> Iterator[ast.expr]:
    """The address and the mask of an access, each if it is computed there and by arithmetic alone."""
    if isinstance(node, ast.Call) and source.origin_of(node.func) in ACCESSES and node.args:
        masks = (keyword.value for keyword in node.keywords if keyword.arg == "mask")
        for part in (node.args[0], *masks):
            if isinstance(part, (ast.BinOp, ast.Compare)) and is_arithmetic(part):
                yield part


def is_arithmetic(node: ast.AST) -> bool:
    """Whether it does nothing but compute, on whatever path."""
    return all(isinstance(one, _ARITHMETIC) for one in ast.walk(node))


def _folded(source: Source, kernel: JitFunction) -> Iterator[Change]:
    tensors = _tensors(source, kernel)
    names = [node for node in ast.walk(kernel.node) if isinstance(node, ast.Name)]
    uses = Counter(node.id for node in names)
    is_free = True
    for first, second in _pairs(kernel.node):
        name = _assigned(first)
        if not is_free or name not in tensors or uses[name] != 2 or not isinstance(first, ast.Assign):
            is_free = True
            continue
        users = [node for node in ast.walk(second) if isinstance(node, ast.Name) and node.id == name]
        can = source.is_alone(first) and source.is_alone(second) and _is_one_line_of_code(source, first)
        if can and len(users) == 1 and isinstance(second, (ast.Assign, ast.Expr)) and _is_tensor(first.value, tensors):
            begin, end = source.span(first.value)
            yield Change(*source.lines_of(first), ())
            yield Change(*source.span(users[0]), (New("(", begin, end), Kept(begin, end), New(")", begin, end)))
            is_free = False


def _is_one_line_of_code(source: Source, statement: ast.stmt) -> bool:
    return statement.lineno == statement.end_lineno and "#" not in source.text[slice(*source.lines_of(statement))]


def _pairs(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    for node in ast.walk(function):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            if isinstance(block, list):
                yield from pairwise(block)


def _statements(source: Source, kernel: JitFunction) -> Iterator[ast.stmt]:
    """The simple statements of a kernel that start a line and end one."""
    for node in ast.walk(kernel.node):
        if isinstance(node, (ast.Assign, ast.Expr)) and source.is_alone(node):
            yield node


def _parts(source: Source, statement: ast.stmt, tensors: frozenset[str]) -> Iterator[ast.expr]:
    """The expressions to be computed before; none of them is in another one, or in what may not be computed."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        left = statement.value.left
        if isinstance(left, ast.BinOp) and _is_tensor(left, tensors):
            yield left
            return
    if any(isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.NamedExpr)) for node in ast.walk(statement)):
        return
    value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
    if value is not None:
        yield from accessed(source, value)


def _is_tensor(node: ast.expr, tensors: frozenset[str]) -> bool:
    """Whether it is arithmetic of which one operand is a tensor for sure, so that it is no constant."""
    return is_arithmetic(node) and isinstance(node, (ast.BinOp, ast.Compare)) and _has_tensor(node, tensors)


def _has_tensor(node: ast.expr, tensors: frozenset[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return _has_tensor(node.left, tensors) or _has_tensor(node.right, tensors)
    if isinstance(node, ast.Compare):
        return _has_tensor(node.left, tensors) or any(_has_tensor(one, tensors) for one in node.comparators)
    if isinstance(node, ast.Subscript):
        return _has_tensor(node.value, tensors)
    return isinstance(node, ast.Name) and node.id in tensors


def _tensors(source: Source, kernel: JitFunction) -> frozenset[str]:
    """The local names that are tensors: all that is ever assigned to them is computed."""
    plain = scope(kernel.node).plain - {parameter.name for parameter in kernel.parameters}
    stores = Counter(
        node.id for node in ast.walk(kernel.node) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    computed = Counter(
        _assigned(node) for node in ast.walk(kernel.node) if isinstance(node, ast.Assign) and _makes(source, node.value)
    )
    return frozenset(name for name in plain if stores[name] == computed[name])


def _makes(source: Source, value: ast.expr) -> bool:
    """Whether what is assigned becomes a tensor: arithmetic does, even that of constants."""
    if isinstance(value, ast.Call):
        return source.origin_of(value.func) in _TENSORS
    return isinstance(value, (ast.BinOp, ast.Compare))


def _assigned(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""
