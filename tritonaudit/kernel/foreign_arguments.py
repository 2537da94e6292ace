"""Arguments of a launch that a kernel can do nothing with: addresses as numbers, memory of the host, types of torch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tritonaudit.kernel.launch import Launch
from tritonaudit.source.outline import JitFunction, Module, dotted_name


class Foreign(Enum):
    """What a launch passes instead of a tensor of the GPU."""

    ADDRESS = auto()
    HOST_TENSOR = auto()
    DTYPE = auto()


@dataclass(frozen=True, eq=False)
class ForeignArgument:
    """What the launch passes for the parameter, and where that was made."""

    what: Foreign
    parameter: str
    node: ast.expr
    made: ast.expr


_FACTORIES = frozenset(
    ("arange", "empty", "eye", "from_numpy", "full", "linspace", "ones", "rand", "randint", "randn", "randperm",
     "tensor", "zeros")
)  # fmt: skip
_SAME_DEVICE = frozenset(
    ("abs", "bfloat16", "bool", "clone", "contiguous", "detach", "double", "expand", "fill_", "flatten", "float",
     "half", "int", "long", "normal_", "permute", "reshape", "squeeze", "t", "transpose", "uniform_", "unsqueeze",
     "view", "zero_")
)  # fmt: skip
_DTYPES = frozenset(
    ("bfloat16", "bool", "double", "float", "float16", "float32", "float64", "half", "int", "int16", "int32", "int64",
     "int8", "long", "uint8")
)  # fmt: skip
_OTHER_HOME = re.compile(
    r"set_default_(device|tensor_type)|with\s+(torch\.)?device\b|_device_guard|DeviceContext|FakeTensorMode"
    r"|TRITON_INTERPRET|set_active_to_cpu"
)
"""The file may make tensors on the GPU without saying so at each, or launch on the CPU."""
_POINTERS = "pointer_type"
_HOPS = 8


def foreign_arguments(module: Module, kernel: JitFunction, launches: tuple[Launch, ...]) -> Iterator[ForeignArgument]:
    """The arguments of the launches that are no tensors of a GPU where the kernel takes one."""
    taken = {parameter.name for parameter in kernel.parameters if not parameter.constexpr}
    for launch in launches:
        for name, node in launch.arguments.items():
            made = launch.definition(node) if name in taken else None
            if not isinstance(made, (ast.Call, ast.Attribute)):
                continue
            if _is_dtype(made):
                yield ForeignArgument(Foreign.DTYPE, name, node, made)
            elif _is_address(made) and not _casts(module, kernel):
                yield ForeignArgument(Foreign.ADDRESS, name, node, made)
            elif _is_on_host(launch, made) and not launch.module.says(_OTHER_HOME):
                yield ForeignArgument(Foreign.HOST_TENSOR, name, node, made)


def _casts(module: Module, kernel: JitFunction) -> bool:
    """Whether the kernel makes pointers of numbers."""
    return _POINTERS in module.text_of(kernel)


def _is_address(node: ast.expr) -> bool:
    """`x.data_ptr()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "data_ptr"


def _is_dtype(node: ast.expr) -> bool:
    """`torch.float16`, `x.dtype`."""
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr == "dtype" or (dotted_name(node.value) == "torch" and node.attr in _DTYPES)


def _is_on_host(launch: Launch, node: ast.expr) -> bool:
    """`torch.zeros(n)` and `x.cpu()`, and what stays where these are."""
    for _ in range(_HOPS):
        node = launch.definition(node)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        called = node.func.attr
        if dotted_name(node.func.value) == "torch":
            return called in _FACTORIES and _stays_on_host(node)
        if called == "cpu":
            return True
        if called == "to":
            return len(node.args) == 1 and _is_cpu(node.args[0]) and not node.keywords
        if called not in _SAME_DEVICE:
            return False
        node = node.func.value
    return False


def _stays_on_host(call: ast.Call) -> bool:
    """Whether nothing of the call says where its tensor is, but the CPU, and the GPU cannot reach it there."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    if None in named or "pin_memory" in named or "out" in named or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    return "device" not in named or _is_cpu(named["device"])


def _is_cpu(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and dotted_name(node.func) == "torch.device" and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Constant) and node.value == "cpu"
