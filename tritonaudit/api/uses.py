"""Where a file uses names of Triton: imports, attributes and calls, in kernels and around them."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.api.bindings import Origins, is_triton
from tritonaudit.source.outline import Module, dotted_name


@dataclass(frozen=True, eq=False)
class Use:
    """One use of a name. `call` is the call of it; `imported` says that an import statement spells it."""

    node: ast.expr | ast.alias
    origin: str
    written: str
    call: ast.Call | None = None
    imported: bool = False

    @property
    def shape(self) -> tuple[object, ...]:
        """What decides whether it is right: two uses of the same shape are both right or both wrong."""
        if self.call is None:
            return (self.origin,)
        by_path = self.written.count(".")
        starred = any(type(argument) is ast.Starred for argument in self.call.args)
        return (self.origin, by_path, starred, len(self.call.args), *(keyword.arg for keyword in self.call.keywords))


def uses(module: Module, origins: Origins) -> Iterator[Use]:
    """Every use of a name of Triton, in the order of the text; of a name imported by itself only the calls."""
    heads = _heads(module, origins)
    yield from _imported(module, origins)
    if not heads:
        return
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(map(re.escape, heads), key=len, reverse=True))})\b")
    hot = [number for number, line in enumerate(module.lines, 1) if pattern.search(line)]
    for expression in _expressions(module.tree.body, hot):
        yield from _in(expression, heads)


def _heads(module: Module, origins: Origins) -> dict[str, str]:
    """The names of the file that stand for something of Triton's."""
    bindings = origins.bindings(module)
    names = {found.name for found in bindings.imports if is_triton(found.origin)} | bindings.values.keys()
    # What other files of the project define is followed for kernels alone: it means reading these files.
    kernels = [module.text_of(jit) for jit in module.jit]
    others = {found.name for found in bindings.imports} - names
    names |= {name for name in others if any(name in text for text in kernels)}
    found = {name: origin for name in names if (origin := origins.of(module, name)) is not None}
    return {name: origin for name, origin in found.items() if not _is_data(origin)}


def _is_data(origin: str) -> bool:
    return origin.rpartition(".")[2].startswith("__")


def _imported(module: Module, origins: Origins) -> Iterator[Use]:
    for found in origins.bindings(module).imports:
        if is_triton(found.spelled):
            yield Use(found.alias, found.spelled, found.spelled, imported=True)


def _expressions(body: list[ast.stmt], hot: list[int]) -> Iterator[ast.expr]:
    """The expressions of those statements that have a hot line."""
    for node in body:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        place = bisect_left(hot, first)
        if place == len(hot) or hot[place] > (node.end_lineno or node.lineno):
            continue
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield child
            elif isinstance(child, ast.stmt):
                yield from _expressions([child], hot)
            elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                yield from _expressions(child.body, hot)
            elif isinstance(child, ast.withitem):
                yield child.context_expr
            elif isinstance(child, ast.arguments):
                yield from (default for default in (*child.defaults, *child.kw_defaults) if default is not None)


_LEAVES = (ast.Name, ast.Constant)


def _in(expression: ast.expr, heads: dict[str, str]) -> Iterator[Use]:
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is ast.Call:
            assert isinstance(node, ast.Call)
            found = _use(node.func, heads, node)
            if found is not None:
                yield found
            else:
                stack.append(node.func)
            stack.extend(argument for argument in node.args if type(argument) not in _LEAVES)
            stack.extend(keyword.value for keyword in node.keywords if type(keyword.value) not in _LEAVES)
        elif kind is ast.Attribute:
            assert isinstance(node, ast.Attribute)
            found = _use(node, heads, None)
            if found is not None:
                yield found
            elif not isinstance(node.value, ast.Name):
                stack.append(node.value)
        elif kind is ast.BinOp:
            assert isinstance(node, ast.BinOp)
            stack += (node.left, node.right)
        elif kind not in _LEAVES:
            stack.extend(ast.iter_child_nodes(node))


def _use(node: ast.expr, heads: dict[str, str], call: ast.Call | None) -> Use | None:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in heads:
        return None
    if isinstance(node, ast.Name):
        return None if call is None else Use(node, heads[root.id], node.id, call)
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
        dotted = dotted_name(node) or ""
        return Use(node, f"{heads[root.id]}.{dotted.partition('.')[2]}", dotted, call)
    return None
