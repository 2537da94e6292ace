"""Where the tensors of a launch come from, and what the host code says of how they lie in memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch, LaunchFacts
from tritonaudit.kernel.reaching import Definitions, definitions_at
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import Module, dotted_name

_VIEWS = frozenset({"view", "reshape", "unsqueeze", "squeeze", "detach", "view_as", "flatten", "unflatten"})
_ALLOCATIONS = frozenset({"empty", "zeros", "ones", "full"})
_LAYOUT = re.compile("contig", re.IGNORECASE)
_HARMLESS = re.compile(r"staticmethod|custom_[bf]wd|once_differentiable|no_grad|inference_mode|\.disable|_op$")
_DEPTH = 6
_HOPS = 3


@dataclass(frozen=True, eq=False)
class Given:
    """What a function was given as its parameter `name`, as it came or as a view; `names` are those that it has.

    `made` is the last expression that makes a view of it.
    """

    name: str
    names: frozenset[str]
    made: ast.expr | None = None


@dataclass(frozen=True, eq=False)
class Gradient:
    """What autograd hands to `backward` as `name`, and a launch passes on as it came, as the wrapper's `given`."""

    name: str
    backward: ast.FunctionDef
    given: Given


def given(function: ast.FunctionDef, definitions: Definitions, node: ast.expr) -> Given | None:
    """The parameter that an expression of the function is, where nothing has made a new tensor of it."""
    names: set[str] = set()
    made = None
    for _ in range(_DEPTH):
        if isinstance(node, ast.Name):
            values = () if node.id in names else definitions.get(node.id, ())
            names.add(node.id)
            if not values:
                return Given(node.id, frozenset(names), made) if node.id in parameters(function) else None
            if len(values) > 1:
                return None
            node = values[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
            made = made or node
            node = node.func.value
        else:
            break
    return None


def given_to(launch: Launch, node: ast.expr) -> Given | None:
    """The parameter of the wrapper that an argument of the launch is."""
    return None if launch.wrapper is None else given(launch.wrapper, launch.reaching, node)


def allocation(launch: Launch, node: ast.expr) -> ast.Call | None:
    """What makes a new tensor with strides of its own, where an argument of the launch is set to that."""
    for value in launch.definitions(node):
        if isinstance(value, ast.Call):
            name = (dotted_name(value.func) or "").rpartition(".")[2]
            if name.removeprefix("new_").removesuffix("_like") in _ALLOCATIONS:
                return value
    return None


def parameters(function: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters, those that take the rest left out."""
    arguments = function.args
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def gradient(launch: Launch, node: ast.expr) -> Gradient | None:
    """The gradient that an argument of the launch is, if nobody has seen to its layout on the way."""
    if "backward" not in launch.module.text or launch.wrapper is None:
        return None
    found = given_to(launch, node)
    backward = None if found is None else _handed(launch.module, launch.wrapper, found, 0)
    return None if found is None or backward is None else Gradient(*backward, found)


def _handed(module: Module, function: ast.FunctionDef, tensor: Given, hops: int) -> tuple[str, ast.FunctionDef] | None:
    """The name and the function that autograd hands the tensor to."""
    if _is_called_by_autograd(module, function):
        if tensor.name in parameters(function)[1:] and not speaks_of_layout(module, function, tensor.names):
            return tensor.name, function
        return None
    for caller, call in _calls(module, function) if hops < _HOPS else ():
        argument = _argument(function, call, tensor.name)
        passed = None if argument is None else given(caller, definitions_at(caller, call), argument)
        found = None if passed is None else _handed(module, caller, passed, hops + 1)
        if found is not None and not speaks_of_layout(module, function, tensor.names):
            return found
    return None


def speaks_of_layout(module: Module, function: ast.FunctionDef, names: frozenset[str]) -> bool:
    """Whether the function makes one of these contiguous, or asks how it lies in memory; a decorator may do so, too."""
    if not all(map(_is_harmless, function.decorator_list)):
        return True
    text = "\n".join(module.lines[function.lineno - 1 : function.end_lineno])
    if "stride" in text and any(_compares_stride(test, names) for test in module.nodes(function).of(ast.Compare)):
        return True
    return _LAYOUT.search(text) is not None and any(
        names_in(subject) & (names | _varying(module, function)) or isinstance(subject, ast.Starred)
        for subject in _made_contiguous(module, function)
    )


def may_lie_anyhow(module: Module, function: ast.FunctionDef, tensor: Given, hops: int = 0) -> bool:
    """Whether callers of the file's public functions choose how the tensor lies in memory."""
    if hops > _HOPS or speaks_of_layout(module, function, tensor.names):
        return False
    callers = list(_calls(module, function))
    for caller, call in callers:
        argument = _argument(function, call, tensor.name)
        passed = None if argument is None else given(caller, definitions_at(caller, call), argument)
        if passed is not None and may_lie_anyhow(module, caller, passed, hops + 1):
            return True
    return not callers


def is_laid_out_elsewhere(launches: LaunchFacts, launch: Launch, tensor: Given) -> bool:
    """Whether neighbouring files call the wrapper, and all of them see to how the tensor lies in memory."""
    function, is_called = launch.wrapper, False
    assert function is not None
    for module, name in launches.files_that_call(launch):
        for caller in _host_functions(module):
            for call in module.nodes(caller).of(ast.Call):
                if (dotted_name(call.func) or "").rpartition(".")[2] == name:
                    is_called = True
                    argument = _argument(function, call, tensor.name)
                    passed = None if argument is None else given(caller, definitions_at(caller, call), argument)
                    if passed is not None and not speaks_of_layout(module, caller, passed.names):
                        return False
    return is_called


def _is_harmless(decorator: ast.expr) -> bool:
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    return _HARMLESS.search(dotted_name(node) or "?") is not None


def _compares_stride(test: ast.Compare, names: frozenset[str]) -> bool:
    asked = (node.value for node in ast.walk(test) if isinstance(node, ast.Attribute) and node.attr == "stride")
    return any(names_in(owner) & names for owner in asked)


def _made_contiguous(module: Module, function: ast.FunctionDef) -> Iterator[ast.expr]:
    """`x` of `x.contiguous()`, `x.is_contiguous()`, `maybe_contiguous(x)` and `map(contiguous, (x, y))`."""
    nodes = module.nodes(function)
    for node in nodes.of(ast.Attribute):
        if _LAYOUT.search(node.attr):
            yield node.value
    for call in nodes.of(ast.Call):
        passed = [*call.args, *(keyword.value for keyword in call.keywords)]
        told = isinstance(call.func, ast.Name) and _LAYOUT.search(call.func.id)
        if told or any(isinstance(node, ast.Name) and _LAYOUT.search(node.id) for node in passed):
            yield from passed


def _varying(module: Module, function: ast.FunctionDef) -> frozenset[str]:
    """The names that stand for several values in turn."""
    nodes = module.nodes(function)
    targets = [*(node.target for node in nodes.of(ast.For)), *(node.target for node in nodes.of(ast.comprehension))]
    bound = {argument.arg for node in nodes.of(ast.Lambda) for argument in node.args.args}
    inner = {argument for node in nodes.of(ast.FunctionDef) if node is not function for argument in parameters(node)}
    return frozenset(bound | inner).union(*map(names_in, targets))


def _argument(function: ast.FunctionDef, call: ast.Call, name: str) -> ast.expr | None:
    """What the call gives for the function's parameter."""
    for parameter, node in zip(parameters(function), call.args, strict=False):
        if isinstance(node, ast.Starred):
            break
        if parameter == name:
            return node
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _is_called_by_autograd(module: Module, function: ast.FunctionDef) -> bool:
    """Whether it is the `backward` of a `Function`, or registered as such."""
    if function.name == "backward":
        return _class_of(module, function) is not None
    registered = rf"register_autograd\([^)]*\b{re.escape(function.name)}\b"
    return "register_autograd" in module.text and re.search(registered, module.text) is not None


def _class_of(module: Module, function: ast.FunctionDef) -> ast.ClassDef | None:
    """The `torch.autograd.Function` that the function is a method of."""
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and function in node.body:
            return node if any((dotted_name(base) or "").endswith("Function") for base in node.bases) else None
    return None


def _calls(module: Module, function: ast.FunctionDef) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    """The calls of a function of the file by others of it, each with the caller; `Function.apply` calls `forward`."""
    owner = _class_of(module, function) if function.name == "forward" else None
    called = function.name if owner is None else f"{owner.name}.apply"
    if f"{called}(" not in module.text:
        return
    for caller in _host_functions(module):
        text = "\n".join(module.lines[caller.lineno : caller.end_lineno])
        if caller is not function and f"{called}(" in text:
            for call in module.nodes(caller).of(ast.Call):
                if f".{dotted_name(call.func)}".endswith(f".{called}"):
                    yield caller, call


def _host_functions(module: Module) -> Iterator[ast.FunctionDef]:
    for node in module.tree.body:
        body = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (function for function in body if isinstance(function, ast.FunctionDef))


def stride_owners(launch: Launch, node: ast.expr, depth: int = 0) -> frozenset[str]:
    """The names of the tensors whose strides an expression of the wrapper is made of."""
    found: set[str] = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and inner.attr == "stride":
            found |= names_in(inner.value)
        elif isinstance(inner, ast.Name) and depth < 3:
            for value in launch.definitions(inner):
                if value is not inner:
                    found |= stride_owners(launch, value, depth + 1)
    return frozenset(found)
