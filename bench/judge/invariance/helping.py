"""`helpers` and `inlined`: an address or a mask is computed by a function, or no longer by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from bench.judge.invariance.changes import Change, Edit, inserted, replaced
from bench.judge.invariance.scopes import loaded, parameters, scope
from bench.judge.invariance.source import Source, code_body
from bench.judge.invariance.temporaries import accessed
from tritonaudit.source.outline import JitFunction, dotted_name

_TIGHT = (ast.Name, ast.Constant)


def helpers(source: Source) -> Edit:
    """Each address and mask that an access computes is computed by a function of its own, before the kernel."""
    changes: list[Change] = []
    names: dict[str, str] = {}
    for kernel in source.plain_kernels.values():
        decorator = _plain_decorator(source, kernel)
        if decorator is None:
            continue
        for node in ast.walk(kernel.node):
            for part in accessed(source, node):
                helper = source.fresh(f"helper{len(names) + 1}")
                taken = _taken(kernel, part)
                names[helper] = kernel.name
                text = _helper(source, kernel, helper, decorator, part, taken)
                changes.append(inserted(source.lines_of(kernel.node)[0], text, source.span(part)))
                changes.append(replaced(*source.span(part), f"{helper}({', '.join(taken)})"))
    return Edit(tuple(changes), names)


def inlined(source: Source) -> Edit:
    """A call of a function that only returns an expression is that expression."""
    bodies = {name: body for name, kernel in source.plain_kernels.items() if (body := _body(source, kernel))}
    changes: list[Change] = []
    for kernel in source.kernels:
        own = scope(kernel.node).own
        for call in _outermost_calls(kernel.node, bodies):
            name = dotted_name(call.func) or ""
            helper = source.plain_kernels[name]
            names = [parameter.name for parameter in helper.parameters]
            free = loaded(bodies[name]) - set(names)
            is_plain = len(call.args) == len(names) and not call.keywords
            if is_plain and kernel is not helper and not free & own and _may_repeat(call, names, bodies[name]):
                given = dict(zip(names, call.args, strict=True))
                changes.append(replaced(*source.span(call), f"({_filled(source, bodies[name], given)})"))
    return Edit(tuple(changes))


def _helper(
    source: Source, kernel: JitFunction, name: str, decorator: str, part: ast.expr, taken: Sequence[str]
) -> str:
    constexpr = _constexpr(kernel)
    given = ", ".join(f"{one}: {constexpr[one]}" if one in constexpr else one for one in taken)
    text = source.text_of(part)
    body = f"({text})" if "\n" in text else text
    return f"@{decorator}\ndef {name}({given}):\n    return {body}\n\n\n"


def _taken(kernel: JitFunction, part: ast.expr) -> list[str]:
    """The names that the part has of the kernel, in their order."""
    own = scope(kernel.node).own
    names = (node.id for node in ast.walk(part) if isinstance(node, ast.Name))
    return list(dict.fromkeys(name for name in names if name in own))


def _constexpr(kernel: JitFunction) -> dict[str, str]:
    """The annotations of the constexpr parameters."""
    names = {parameter.name for parameter in kernel.parameters if parameter.constexpr}
    given = {one.arg: one.annotation for one in parameters(kernel.node)}
    return {name: ast.unparse(note) for name, note in given.items() if name in names and note is not None}


def _plain_decorator(source: Source, kernel: JitFunction) -> str | None:
    """How the file spells Triton's jit without arguments; None for another decorator than that."""
    for decorator in kernel.decorators:
        node = decorator.func if isinstance(decorator, ast.Call) else decorator
        if source.origin_of(node) == "triton.jit":
            return ast.unparse(node)
    return None


def _body(source: Source, kernel: JitFunction) -> ast.expr | None:
    """The expression that a function returns, if it does nothing else and makes a tensor by calling Triton."""
    statements = code_body(kernel.node)
    is_plain = len(kernel.decorators) == 1 and _plain_decorator(source, kernel) is not None
    if not is_plain or len(statements) != 1 or not isinstance(statements[0], ast.Return):
        return None
    arguments = kernel.node.args
    value = statements[0].value
    if value is None or arguments.vararg or arguments.kwonlyargs or arguments.kwarg or arguments.defaults:
        return None
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    inner = (ast.Lambda, ast.NamedExpr, ast.JoinedStr, ast.ListComp, ast.GeneratorExp)
    if any(isinstance(node, inner) for node in ast.walk(value)) or not isinstance(value, (ast.Call, ast.BinOp)):
        return None
    known = [source.origin_of(call.func).startswith("triton.language.") for call in calls]
    return value if known and all(known) else None


def _outermost_calls(node: ast.AST, bodies: dict[str, ast.expr]) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and dotted_name(child.func) in bodies:
            yield child
        else:
            yield from _outermost_calls(child, bodies)


def _may_repeat(call: ast.Call, names: list[str], body: ast.expr) -> bool:
    """Whether each argument may stand wherever the parameter does: it is a name, or the parameter stands once."""
    uses = [node.id for node in ast.walk(body) if isinstance(node, ast.Name)]
    return all(
        isinstance(given, _TIGHT) or (uses.count(name) == 1 and not isinstance(given, ast.Starred))
        for name, given in zip(names, call.args, strict=True)
    )


def _filled(source: Source, body: ast.expr, given: dict[str, ast.expr]) -> str:
    """The text of the expression with the arguments in the places of the parameters."""
    start, end = source.span(body)
    pieces: list[str] = []
    done = start
    places = [node for node in ast.walk(body) if isinstance(node, ast.Name) and node.id in given]
    for node in sorted(places, key=source.span):
        begin, stop = source.span(node)
        argument = source.text_of(given[node.id])
        text = argument if isinstance(given[node.id], _TIGHT) else f"({argument})"
        pieces += [source.text[done:begin], text]
        done = stop
    return "".join([*pieces, source.text[done:end]])
