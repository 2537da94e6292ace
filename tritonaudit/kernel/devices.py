"""Tensors that a wrapper makes on the current GPU, whichever GPU its caller's tensors are on."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tritonaudit.kernel.launch import Launch, launches_of
from tritonaudit.kernel.tensors import given_to
from tritonaudit.source.nodes import spans
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_GPU = "cuda"
_CHOOSES = re.compile(r"set_device|current_device|accelerator")
_OF_TENSORS = frozenset({"shape", "stride", "dtype", "device", "numel", "size", "contiguous", "ndim", "element_size"})


@dataclass(frozen=True, eq=False)
class FixedDevice:
    """A launch is given `made`, which is on the current GPU, beside the caller's tensor `beside`; `others` are alike.

    `first` says that it is on the first GPU, by number.
    """

    made: ast.Call
    beside: str
    others: tuple[ast.Call, ...]
    first: bool


def fixed_device(module: Module, function: JitFunction, launches: tuple[Launch, ...]) -> FixedDevice | None:
    """What the file's first such launch is given, if it is one of this kernel's: it is one habit, reported once."""
    if not module.says(_GPU) or not any(map(_made_on_gpu, launches)) or module.says(_CHOOSES):
        return None
    found = [
        (made, kernel, beside)
        for kernel, those in launches_of(module).items()
        for launch in those
        for made in _made_on_gpu(launch)
        if not _is_guarded(launch, made) and (beside := _of_caller(launch)) is not None
    ]
    found.sort(key=lambda one: (one[0].lineno, one[0].col_offset))
    if not found or found[0][1] is not function:
        return None
    made, _, beside = found[0]
    others = {other.lineno: other for other, _, _ in found if other.lineno != made.lineno}
    return FixedDevice(made, beside, tuple(others.values()), "cuda:" in ast.unparse(made))


def _is_guarded(launch: Launch, made: ast.Call) -> bool:
    """Whether it is made below `with torch.cuda.device(…)`, or its wrapper is called below one."""
    wrapper = launch.wrapper
    guards = [node for node in launch.module.nodes(launch.module.tree).of(ast.With) if _chooses(node)]
    return wrapper is None or any(spans(guard, made.lineno) or _calls(guard, wrapper.name) for guard in guards)


def _calls(guard: ast.With, name: str) -> bool:
    called = (dotted_name(node.func) or "" for node in ast.walk(guard) if isinstance(node, ast.Call))
    return any(dotted.rpartition(".")[2] in (name, "apply") for dotted in called)


def _chooses(node: ast.With) -> bool:
    return any("device" in ast.unparse(item.context_expr) for item in node.items)


def _made_on_gpu(launch: Launch) -> list[ast.Call]:
    """The calls that make an argument of the launch, and name no GPU but the current one or the first."""
    return [
        node
        for argument in launch.arguments.values()
        for value in launch.definitions(argument)
        for node in ((value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,))
        if isinstance(node, ast.Call) and _names_gpu(launch.module, node)
    ]


def _names_gpu(module: Module, call: ast.Call) -> bool:
    """`torch.empty(…, device="cuda")`, `x.cuda()` or `x.to("cuda")`."""
    if (dotted_name(call.func) or "").partition(".")[0] in module.names and module.origin_of(call.func)[:6] == "torch.":
        return any(keyword.arg == "device" and _is_gpu(keyword.value) for keyword in call.keywords)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "cuda":
        return not call.args and not call.keywords
    return call.func.attr == "to" and any(map(_is_gpu, call.args))


def _is_gpu(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda")


def _of_caller(launch: Launch) -> str | None:
    """A tensor that the wrapper is given, and the launch is passed."""
    for argument in launch.arguments.values():
        given = given_to(launch, argument) if isinstance(argument, (ast.Name, ast.Call)) else None
        if given is not None and _is_tensor(launch, given.name):
            return given.name
    return None


def _is_tensor(launch: Launch, name: str) -> bool:
    assert launch.wrapper is not None
    arguments = launch.wrapper.args
    annotated = [a for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs) if a.arg == name]
    if any(a.annotation is not None and "Tensor" in ast.unparse(a.annotation) for a in annotated):
        return True
    uses = launch.nodes.of(ast.Attribute)
    return any(isinstance(use.value, ast.Name) and use.value.id == name and use.attr in _OF_TENSORS for use in uses)
