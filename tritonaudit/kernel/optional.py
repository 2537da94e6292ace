"""Which pointers of a kernel may be None, as its flags, its launches and its own text say."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.tuning import Heuristics, decorators
from tritonaudit.source.nodes import names_in, spans
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_MAKE_TENSORS = frozenset(
    {"contiguous", "view", "reshape", "transpose", "permute", "flatten", "unsqueeze", "squeeze", "expand", "clone"}
    | {"detach", "to", "float", "half", "t", "empty", "zeros", "ones", "full", "arange", "empty_like", "zeros_like"}
    | {"ones_like", "full_like", "new_empty", "new_zeros", "new_ones", "new_full", "cumsum"}
)
"""Methods of tensors and functions of torch that return a tensor, and fail where they are given None."""


def optional_pointers(module: Module, function: JitFunction, launches: LaunchFacts) -> dict[str, set[str]]:
    """The parameters that may be None, each with the flags that say that it is not."""
    found: dict[str, set[str]] = {}
    for pointer, flag in (*_by_heuristics(module, function), *_by_launches(launches)):
        found.setdefault(pointer, set()).add(flag)
    constants = {parameter.name for parameter in function.parameters if parameter.constexpr}
    return {pointer: flags for pointer, flags in found.items() if pointer not in constants}


def is_always_given(launches: LaunchFacts, pointer: str) -> bool:
    """Whether no launch of the file can pass None for the parameter: the host code would have failed before."""
    return bool(launches.launches) and all(
        pointer in launch.arguments and _is_tensor(launch, launch.arguments[pointer]) for launch in launches.launches
    )


def _is_tensor(launch: Launch, node: ast.expr) -> bool:
    """Whether the argument was made by a call that makes tensors, or used as one on the way to the launch."""
    if isinstance(node, ast.Name) and node.id not in launch.reaching:
        wrapper = launch.wrapper
        return wrapper is not None and _is_used_before(wrapper.body, node.id, launch.call)
    return all(
        isinstance(value, ast.Call) and (_attribute(value.func) in _MAKE_TENSORS) for value in launch.definitions(node)
    )


def _attribute(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else None


def _is_used_before(body: list[ast.stmt], name: str, call: ast.Call) -> bool:
    """Whether a statement that runs before the call, whatever the conditions are, fails where the name is None."""
    for statement in body:
        if statement.lineno > call.lineno:
            return False
        if (statement.end_lineno or statement.lineno) >= call.lineno:
            blocks = (getattr(statement, block, []) for block in ("body", "orelse", "finalbody"))
            return any(_is_used_before(block, name, call) for block in blocks if _holds(block, call))
        value = statement.value if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)) else None
        if value is not None and name in names_in(value) and _needs_tensor(value, name):
            return True
    return False


def _holds(block: list[ast.stmt], call: ast.Call) -> bool:
    return any(spans(statement, call.lineno) for statement in block)


def _needs_tensor(node: ast.expr, name: str) -> bool:
    """`x.shape`, `x[0]` and `torch.empty_like(x)`, where nothing chooses whether they run."""
    if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)):
        return False
    if isinstance(node, (ast.Attribute, ast.Subscript)) and _is_named(node.value, name):
        return True
    is_alike = isinstance(node, ast.Call) and (dotted_name(node.func) or "").endswith("_like")
    if isinstance(node, ast.Call) and is_alike and node.args and _is_named(node.args[0], name):
        return True
    return any(_needs_tensor(child, name) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def asks_for_none(heuristic: ast.expr) -> bool:
    """Whether a heuristic tells that an argument is given: `lambda args: args["bias"] is not None`."""
    return isinstance(heuristic, ast.Lambda) and _asked(heuristic.body) is not None


def _by_heuristics(module: Module, function: JitFunction) -> Iterator[tuple[str, str]]:
    """`"HAS_BIAS": lambda args: args["bias"] is not None`."""
    for decorator in decorators(module, function):
        for flag, value in decorator.values.items() if isinstance(decorator, Heuristics) else ():
            asked = _asked(value.body) if isinstance(value, ast.Lambda) else None
            if isinstance(asked, ast.Subscript) and isinstance(asked.slice, ast.Constant):
                yield str(asked.slice.value), flag


def _by_launches(launches: LaunchFacts) -> Iterator[tuple[str, str]]:
    """`kernel[grid](bias, HAS_BIAS=bias is not None)`."""
    for launch in launches.launches:
        for flag, node in launch.arguments.items():
            asked = _asked(launch.definition(node))
            name = asked.id if isinstance(asked, ast.Name) else None
            for pointer, argument in launch.arguments.items() if name is not None else ():
                if isinstance(argument, ast.Name) and argument.id == name and _stays_none(launch, argument):
                    yield pointer, flag


def _asked(node: ast.expr) -> ast.expr | None:
    """`x` of `x is not None` and of `True if x is not None else False`."""
    if isinstance(node, ast.IfExp) and ast.unparse(node.body) == "True" and ast.unparse(node.orelse) == "False":
        node = node.test
    is_test = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.IsNot)
    return node.left if is_test and isinstance(node, ast.Compare) and _is_none(node.comparators[0]) else None


def _stays_none(launch: Launch, argument: ast.Name) -> bool:
    """Whether nothing is put in the place of None before the launch."""
    return argument.id not in launch.reaching or any(map(_is_none, launch.definitions(argument)))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
