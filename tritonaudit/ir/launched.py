"""The types and constants that the launches of a file give a kernel's parameters."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tritonaudit.ir.names import constant
from tritonaudit.ir.values import (
    ANY,
    ANY_INT,
    FLOATS,
    INTEGERS,
    POINTER,
    Const,
    Descriptor,
    Dtype,
    Helper,
    Tensor,
    Value,
    dtype_of_number,
)
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import dotted_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tritonaudit.kernel.launch import Launch, LaunchFacts
    from tritonaudit.kernel.project import Function, Project
    from tritonaudit.source.outline import Module, Parameter

_TORCH = {
    "float64": "fp64", "double": "fp64", "float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16",
    "bfloat16": "bf16", "float8_e5m2": "fp8e5", "float8_e4m3fn": "fp8e4nv", "bool": "i1", "int8": "i8",
    "int16": "i16", "short": "i16", "int32": "i32", "int": "i32", "int64": "i64", "long": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
_FLOAT_MAKERS = frozenset({"empty", "zeros", "ones", "rand", "randn"})
_MAKERS = _FLOAT_MAKERS | {"full", "arange", "randint", "tensor", "randperm", "empty_strided", "as_tensor"}
_LIKE = frozenset({"empty_like", "zeros_like", "ones_like", "rand_like", "randn_like", "full_like"})
_METHODS = {"half": "fp16", "float": "fp32", "double": "fp64", "bfloat16": "bf16", "int": "i32", "long": "i64"}
_KEEPING = frozenset(
    {"contiguous", "cuda", "clone", "detach", "view", "reshape", "t", "transpose", "permute", "flatten", "squeeze"}
)
_ANNOTATIONS = {
    "int64": "i64", "uint64": "u64", "int32": "i32", "uint32": "u32", "int16": "i16", "uint16": "u16",
    "int8": "i8", "uint8": "u8", "int1": "i1",
}  # fmt: skip
_DESCRIPTOR = re.compile(r"tensordesc<(?P<dtype>\w+)\[(?P<shape>[\d, ]+)\]")
_DEPTH = 4


def parameters(
    function: Function, facts: LaunchFacts | None, types: Mapping[str, str], project: Project, helper: bool
) -> dict[str, Value]:
    """What is known of each parameter when the kernel starts."""
    given = {
        parameter.name: _parameter(function, parameter, facts, types.get(parameter.name), project, helper)
        for parameter in function.jit.parameters
    }
    sizes = _sizes(function)
    return {name: Const(ANY_INT) if name in sizes and value == Const(ANY) else value for name, value in given.items()}


_SHAPED = ("triton.language.zeros", "triton.language.full")


def _sizes(function: Function) -> frozenset[str]:
    """Names that the kernel makes shapes of: they stand for ints."""
    found: set[str] = set()
    for call in function.jit.nodes.of(ast.Call):
        made = function.module.origin_of(call.func)
        if made == "triton.language.arange":
            found.update(*map(names_in, call.args))
        elif made in _SHAPED:
            shapes = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "shape")]
            found.update(*map(names_in, shapes))
    return frozenset(found)


def _parameter(
    function: Function,
    parameter: Parameter,
    facts: LaunchFacts | None,
    learnt: str | None,
    project: Project,
    helper: bool,
) -> Value:
    given = [] if facts is None else [_given(function, launch, parameter, project) for launch in facts.launches]
    agreed = given[0] if given and all(value == given[0] for value in given) else None
    if facts is not None and parameter.name in facts.tuned:
        agreed = None
    if parameter.constexpr:
        if isinstance(agreed, Helper) or (isinstance(agreed, Const) and agreed.known):
            return agreed
        return _of_default(function.module, facts, parameter) or _tuned(facts, parameter.name)
    annotated = _annotation(function, parameter)
    if learnt is not None and (value := _typed(learnt)) is not None:
        return value
    if isinstance(agreed, Const) and agreed.known and annotated is None:
        return agreed
    if annotated is not None and not helper:
        return Tensor(annotated, ())
    if isinstance(agreed, Tensor):
        return agreed
    return Tensor(None, None if helper else (), free=True)


def _typed(learnt: str) -> Tensor | Descriptor | None:
    """What a parameter with this type in a signature is; None where it has no type, or is made of several."""
    if learnt.startswith(POINTER) or learnt in FLOATS or learnt in INTEGERS:
        return Tensor(learnt, ())
    if learnt == "u1":
        return Tensor("i1", ())
    if (described := _DESCRIPTOR.match(learnt)) is not None:
        return Descriptor(described["dtype"], tuple(map(int, described["shape"].split(","))))
    return None


def _of_default(module: Module, facts: LaunchFacts | None, parameter: Parameter) -> Const | None:
    """The default, where no launch or config is seen and it is a tuple or a dtype; others stand in for more."""
    if facts is None or facts.launches or parameter.name in facts.tuned or parameter.default is None:
        return None
    value = constant(module, parameter.default)
    return Const(value) if isinstance(value, (tuple, Dtype)) else None


def _tuned(facts: LaunchFacts | None, name: str) -> Const:
    """The constant that the only config, or every config, gives; `ANY` where they differ."""
    if facts is not None and name in facts.tuned:
        values = {config[name].value for config, _ in facts.configs if name in config}
        if len(values) == 1 and len(facts.configs) == sum(name in config for config, _ in facts.configs):
            only = values.pop()
            return Const(ANY if only is None else only)
    return Const(ANY)


def _annotation(function: Function, parameter: Parameter) -> str | None:
    arguments = function.jit.node.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    node = next((arg.annotation for arg in every if arg.arg == parameter.name), None)
    dotted = dotted_name(node) if node is not None else None
    if dotted is None or not function.module.origin(dotted).startswith("triton.language."):
        return None
    return _ANNOTATIONS.get(dotted.rpartition(".")[2])


def _given(function: Function, launch: Launch, parameter: Parameter, project: Project) -> Value | None:
    """What one launch passes for a parameter; None where the text does not say."""
    node = launch.arguments.get(parameter.name)
    if node is None:
        if launch.is_open or parameter.default is None:
            return None
        return _constant_of(function.module, parameter.default, parameter.constexpr)
    values = launch.definitions(node)
    if len(values) != 1:
        return None
    node = launch.definition(node)
    if isinstance(node, ast.Name) and (found := project.function(launch.module, node.id, node.lineno)) is not None:
        return Helper(found)
    dtype = tensor_dtype(launch, node, _DEPTH)
    if dtype is not None:
        return Tensor(dtype, ())
    return _constant_of(launch.module, node, parameter.constexpr)


def _constant_of(module: Module, node: ast.expr, constexpr: bool) -> Value | None:
    """A literal: a constant for a constexpr; else None and 1 alone are, and other numbers become scalars."""
    value = constant(module, node)
    if value is ANY:
        return None
    if constexpr or value is None or (value == 1 and type(value) is int):
        return Const(value)
    if isinstance(value, tuple):
        return None
    dtype = dtype_of_number(value)
    if isinstance(value, float):
        dtype = "fp32"
    elif isinstance(value, int) and not isinstance(value, bool):
        dtype = "i32" if -(2**31) <= value < 2**31 else "i64"
    return None if dtype is None else Tensor(dtype, ())


def tensor_dtype(launch: Launch, node: ast.expr, depth: int) -> str | None:
    """The type of pointer that a tensor of the host code becomes: `*fp16`, `*` of unknown elements, None for others."""
    node = launch.definition(node)
    if depth == 0 or not isinstance(node, ast.Call):
        return None
    called = dotted_name(node.func)
    origin = None if called is None else launch.module.origin(called)
    if origin is not None and origin.startswith("torch."):
        return _made(launch, node, origin.removeprefix("torch."), depth)
    if isinstance(node.func, ast.Attribute):
        inner = tensor_dtype(launch, node.func.value, depth - 1)
        if inner is None:
            return None
        name = node.func.attr
        if name in _METHODS:
            return POINTER + _METHODS[name]
        if name == "to":
            return next((found for arg in node.args if (found := _torch_dtype(launch, arg)) is not None), inner)
        return inner if name in _KEEPING else None
    return None


def _made(launch: Launch, node: ast.Call, name: str, depth: int) -> str | None:
    dtype = next((keyword.value for keyword in node.keywords if keyword.arg == "dtype"), None)
    if name in _LIKE and dtype is None and node.args:
        return tensor_dtype(launch, node.args[0], depth - 1) or POINTER
    if name not in _MAKERS and name not in _LIKE:
        return None
    if dtype is not None:
        return _torch_dtype(launch, launch.definition(dtype)) or POINTER
    return POINTER + "fp32" if name in _FLOAT_MAKERS and not launch.module.says("set_default_dtype") else POINTER


def _torch_dtype(launch: Launch, node: ast.expr) -> str | None:
    dotted = dotted_name(node)
    if dotted is None:
        return None
    origin = launch.module.origin(dotted)
    short = _TORCH.get(origin.removeprefix("torch.")) if origin.startswith("torch.") else None
    return None if short is None else POINTER + short
