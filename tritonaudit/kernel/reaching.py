"""Which assignments of a host function can reach a call in it, statement by statement."""

from __future__ import annotations

import ast

from tritonaudit.source.nodes import spans

Definitions = dict[str, tuple[ast.expr, ...]]


def definitions_at(function: ast.FunctionDef, call: ast.Call) -> Definitions:
    """For each name, what it may be set to when `call` runs; a name that is updated in place has several."""
    found = _run(function.body, {}, call)
    return found[0]


def _run(body: list[ast.stmt], before: Definitions, call: ast.Call | None) -> tuple[Definitions, bool]:
    """The definitions after the body, or at the call if it stands in it, and whether it does."""
    names = dict(before)
    for node in body:
        if call is None or not spans(node, call.lineno):
            names = _after(node, names)
        elif inner := _blocks(node):
            return _inside(node, inner, names, call)
        else:
            return _after(node, names), True
    return names, False


def _inside(
    node: ast.stmt, blocks: list[list[ast.stmt]], names: Definitions, call: ast.Call
) -> tuple[Definitions, bool]:
    if isinstance(node, (ast.For, ast.While)):
        # An earlier round may have set what this one reads.
        names = _merged(names, _after(node, names))
        if isinstance(node, ast.For):
            names = _bound_by_loop(node, names)
    for block in blocks:
        found, here = _run(block, names, call)
        if here:
            return found, True
        if isinstance(node, (ast.With, ast.Try)):
            names = found
    return names, True


def _after(node: ast.stmt, names: Definitions) -> Definitions:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            names = _bound(target, node.value, names)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        names = _bound(node.target, node.value, names)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names = {**names, node.target.id: (*names.get(node.target.id, ()), node.value, node.value)}
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return names
    else:
        names = _after_blocks(node, names)
    return names


def _after_blocks(node: ast.stmt, names: Definitions) -> Definitions:
    blocks = _blocks(node)
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return _run(blocks[0], names, None)[0]
    within = _bound_by_loop(node, names) if isinstance(node, ast.For) else names
    results = [_run(block, within, None)[0] for block in blocks]
    if not (isinstance(node, ast.If) and node.orelse):
        results.append(names)
    merged = results[0]
    for result in results[1:]:
        merged = _merged(merged, result)
    return merged


def _bound_by_loop(node: ast.For, names: Definitions) -> Definitions:
    """The loop's variable is one of what it runs over: a subscript of it that no constant gives."""
    part = ast.Subscript(value=node.iter, slice=ast.Name(id="_", ctx=ast.Load()), ctx=ast.Load())
    for target in ast.walk(node.target):
        if isinstance(target, ast.Name):
            names = {**names, target.id: (ast.copy_location(part, node.iter),)}
    return names


def _blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    found = [block for name in ("body", "orelse", "finalbody") if isinstance(block := getattr(node, name, None), list)]
    found.extend(handler.body for handler in getattr(node, "handlers", ()))
    return [block for block in found if block]


def _merged(left: Definitions, right: Definitions) -> Definitions:
    merged = dict(left)
    for name, values in right.items():
        mine = merged.get(name, ())
        merged[name] = (*mine, *(value for value in values if not any(value is other for other in mine)))
    return merged


def _bound(target: ast.expr, value: ast.expr, names: Definitions) -> Definitions:
    if isinstance(target, ast.Name):
        return {**names, target.id: (value,)}
    if isinstance(target, (ast.Tuple, ast.List)):
        for index, element in enumerate(target.elts):
            names = _bound(element, _part(value, index, len(target.elts)), names)
    return names


def _part(value: ast.expr, index: int, count: int) -> ast.expr:
    if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == count:
        return value.elts[index]
    if isinstance(value, ast.Tuple) and (starred := [node for node in value.elts if isinstance(node, ast.Starred)]):
        return _part_of_starred(value, starred, index, count)
    # `b, h, d = x.shape`: counted from the end, since their number is known here.
    part = ast.Subscript(value=value, slice=ast.Constant(index - count), ctx=ast.Load())
    return ast.copy_location(part, value)


def _part_of_starred(value: ast.Tuple, starred: list[ast.Starred], index: int, count: int) -> ast.expr:
    """`b, h, d, n = *x.shape, groups`: the starred one takes what the others leave."""
    first = value.elts.index(starred[0])
    behind = len(value.elts) - first - 1
    if len(starred) == 1 and index < first:
        return value.elts[index]
    if len(starred) == 1 and index >= count - behind:
        return value.elts[index - count]
    place = ast.Constant(index - count + behind) if len(starred) == 1 else ast.Name(id="_", ctx=ast.Load())
    return ast.copy_location(ast.Subscript(value=starred[0].value, slice=place, ctx=ast.Load()), value)
