"""Which pointers of a kernel may be None, as its flags, its launches and its own text say."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.tuning import Heuristics, decorators
from tritonaudit.source.outline import JitFunction, Module


def optional_pointers(module: Module, function: JitFunction, launches: LaunchFacts) -> dict[str, set[str]]:
    """The parameters that may be None, each with the flags that say that it is not."""
    found: dict[str, set[str]] = {}
    for pointer, flag in (*_by_heuristics(module, function), *_by_launches(launches)):
        found.setdefault(pointer, set()).add(flag)
    constants = {parameter.name for parameter in function.parameters if parameter.constexpr}
    return {pointer: flags for pointer, flags in found.items() if pointer not in constants}


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
