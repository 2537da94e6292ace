"""Calls: of Triton's functions, of helpers, and of what a kernel cannot call."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from tritonaudit.api.table import TENSOR
from tritonaudit.ir import expressions, kinds, operations
from tritonaudit.ir.bound import Bound, bind, parameters
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    ANY,
    UNKNOWN,
    Argument,
    Const,
    Dtype,
    Helper,
    Method,
    Named,
    Plain,
    Tensor,
    Tuple,
    Unknown,
    Value,
    text_of_type,
)
from tritonaudit.ir.writing import made_of
from tritonaudit.source.outline import dotted_name

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader
    from tritonaudit.kernel.project import Function

_RECURSION = 24


def call(reader: Reader, node: ast.Call, dropped: bool = False) -> Value:
    """The value of a call; `dropped` where nothing is made of it."""
    function = expressions.evaluate(reader, node.func)
    positional: list[Argument] = []
    open_call = False
    for argument in node.args:
        value = expressions.evaluate(reader, argument)
        if isinstance(argument, ast.Starred):
            reader.mistake(MistakeKind.CALL, argument, "starred", until=(3, 3))
            if isinstance(value, Tuple):
                positional.extend((item, argument) for item in value.items)
            else:
                open_call = True
        else:
            positional.append((value, argument))
    keywords: dict[str, Argument] = {}
    for keyword in node.keywords:
        value = expressions.evaluate(reader, keyword.value)
        if keyword.arg is None:
            open_call = True
        else:
            keywords[keyword.arg] = (value, keyword.value)
    if isinstance(function, Helper):
        return _helper(reader, node, function, positional, keywords, open_call)
    if open_call:
        return UNKNOWN
    if isinstance(function, Unknown):
        return _of_unknown(reader, node, positional, keywords)
    return _called(reader, node, function, positional, keywords, dropped)


def _of_unknown(reader: Reader, node: ast.Call, positional: list[Argument], keywords: dict[str, Argument]) -> Value:
    """A method of a value of unknown type, or a function that nobody knows."""
    receiver = reader.known(node.func.value) if isinstance(node.func, ast.Attribute) else UNKNOWN
    if made_of(receiver) is None or not isinstance(node.func, ast.Attribute):
        return _unknown_call(reader, node, dotted_name(node.func), positional, keywords)
    name = node.func.attr
    if name in ("load", "store"):
        return operations.of_descriptor(reader, node, Method(receiver, name), positional, keywords)
    first: Argument = (receiver, node.func.value)
    bound = bind(reader, node, f"triton.language.{name}", [first, *positional], keywords, method=True)
    return reader.result(name, node, bound.named, UNKNOWN, bound)


def _unknown_call(
    reader: Reader, node: ast.Call, origin: str | None, positional: list[Argument], keywords: dict[str, Argument]
) -> Value:
    arguments = {**{str(place): one for place, one in enumerate(positional)}, **keywords}
    return reader.result("call", node, arguments, UNKNOWN, origin)


def _called(
    reader: Reader,
    node: ast.Call,
    function: Value,
    positional: list[Argument],
    keywords: dict[str, Argument],
    dropped: bool,
) -> Value:
    if isinstance(function, Named):
        return _named(reader, node, function.origin, positional, keywords, dropped)
    if isinstance(function, Method):
        return _method(reader, node, function, positional, keywords, dropped)
    if isinstance(function, Plain):
        reader.mistake(MistakeKind.HOST_FUNCTION, node, "plain", name=function.name)
    elif isinstance(function, Const) and isinstance(function.value, Dtype):
        reader.mistake(MistakeKind.CALL, node, "dtype", text=ast.unparse(node.func))
    return UNKNOWN


# -- helpers -----------------------------------------------------------------------------------------------------


def _helper(
    reader: Reader,
    node: ast.Call,
    helper: Helper,
    positional: list[Argument],
    keywords: dict[str, Argument],
    open_call: bool,
) -> Value:
    function = helper.function
    decorators = {(dotted_name(d.func if isinstance(d, ast.Call) else d) or "").rpartition(".")[2] for d in
                  function.jit.decorators}  # fmt: skip
    if "autotune" in decorators:
        reader.mistake(MistakeKind.LAUNCH_INSIDE, node, "autotuned", name=function.jit.name)
        return UNKNOWN
    if open_call or function.jit.node.args.vararg is not None or function.jit.node.args.kwarg is not None:
        return reader.result("call", node, {}, UNKNOWN)
    given = _bound_to(reader, node, function, positional, keywords)
    if given is None:
        return UNKNOWN
    if any(_is_noinline(d) for d in function.jit.decorators):
        block = next((name for name, value in given.items() if isinstance(value, Tensor) and value.is_block), None)
        if block is not None:
            reader.mistake(MistakeKind.CALL, node, "noinline", name=function.jit.name, parameter=block)
    depth = reader.on_stack(helper)
    if depth:
        reader.mistake(MistakeKind.RECURSION, node, "early", until=(3, 5), name=function.jit.name)
        values = list(given.values())
        if reader.is_sure and all(isinstance(v, Tensor) and not v.free and v.dtype is not None for v in values):
            reader.mistake(MistakeKind.RECURSION, node, "runtime", since=(3, 5), name=function.jit.name)
        if depth > _RECURSION or not any(isinstance(v, Const) and v.known for v in given.values()):
            if depth > _RECURSION:
                reader.mistake(MistakeKind.RECURSION, node, "endless", name=function.jit.name)
            return UNKNOWN
    return reader.call(function, given, node)


def _is_noinline(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and any(
        keyword.arg == "noinline" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
        for keyword in decorator.keywords
    )


def _bound_to(
    reader: Reader, node: ast.Call, function: Function, positional: list[Argument], keywords: dict[str, Argument]
) -> dict[str, Value] | None:
    """The parameters' values; None, with a mistake, where the arguments do not fit."""
    parameters = function.jit.parameters
    name = function.jit.name
    if len(positional) > len(parameters):
        reader.mistake(MistakeKind.ARGUMENTS, node, "too many", name=name, limit=len(parameters), given=len(positional))
        return None
    given: dict[str, Value] = {p.name: value for p, (value, _) in zip(parameters, positional, strict=False)}
    for keyword, (value, _) in keywords.items():
        if keyword not in {p.name for p in parameters}:
            reader.mistake(MistakeKind.ARGUMENTS, node, "unknown", name=name, parameter=keyword)
            return None
        if keyword in given:
            reader.mistake(MistakeKind.ARGUMENTS, node, "twice", name=name, parameter=keyword)
            return None
        given[keyword] = value
    for parameter in parameters:
        if parameter.name in given:
            continue
        if parameter.default is None:
            reader.mistake(MistakeKind.ARGUMENTS, node, "missing", name=name, parameter=parameter.name)
            return None
        default: Any = ANY
        if isinstance(parameter.default, ast.Constant):
            default = parameter.default.value
        given[parameter.name] = Const(default)
    return given


# -- functions of modules ----------------------------------------------------------------------------------------


def _named(
    reader: Reader,
    node: ast.Call,
    origin: str,
    positional: list[Argument],
    keywords: dict[str, Argument],
    dropped: bool,
) -> Value:
    head = origin.partition(".")[0]
    if "." not in origin:
        arguments = {str(place): one for place, one in enumerate(positional)}
        return reader.result("call", node, arguments, _builtin(reader, node, origin, positional), origin)
    if head == "triton":
        return operations.apply(reader, bind(reader, node, origin, positional, keywords), dropped)
    tensors = [value for value, _ in positional if isinstance(value, Tensor)]
    if origin.startswith("os.environ.") or origin == "os.getenv":
        reader.mistake(MistakeKind.HOST_FUNCTION, node, "plain", name=origin)
    if head == "math":
        return _math(reader, node, origin, positional, tensors)
    if origin in ("torch.finfo", "torch.iinfo") or origin.startswith("torch._inductor."):
        return UNKNOWN  # classes, of which some releases take the numbers; functions for kernels
    if head == "torch":
        reader.mistake(MistakeKind.HOST_LIBRARY, node, "torch", text=ast.unparse(node.func))
    elif head == "numpy" and any(not value.free for value in tensors):
        reader.mistake(MistakeKind.HOST_LIBRARY, node, "numpy", text=ast.unparse(node.func))
    elif head == "numpy" and origin.removeprefix("numpy.") in ("float32", "float16", "float64", "int32", "int64"):
        reader.mistake(MistakeKind.HOST_LIBRARY, node, "number", text=ast.unparse(node.func))
    return _unknown_call(reader, node, origin, positional, keywords)


def _math(reader: Reader, node: ast.Call, origin: str, positional: list[Argument], tensors: list[Tensor]) -> Value:
    name = origin.removeprefix("math.")
    if tensors:
        reader.mistake(MistakeKind.HOST_MATH, node, name, name=name, text=ast.unparse(node))
        return UNKNOWN
    reader.mistake(MistakeKind.HOST_FUNCTION, node, "math", until=(3, 2), name=f"math.{name}")
    values = [value.value for value, _ in positional if isinstance(value, Const) and value.known]
    if any(type(value) is float for value in values):
        reader.mistake(MistakeKind.HOST_FUNCTION, node, "math", since=(3, 2), until=(3, 6), name=f"math.{name}")
    function = getattr(math, name, None)
    if len(values) != len(positional) or not callable(function):
        return Const(ANY) if all(isinstance(value, Const) for value, _ in positional) else UNKNOWN
    try:
        return Const(function(*values))
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN


def _builtin(reader: Reader, node: ast.Call, name: str, positional: list[Argument]) -> Value:
    values = [value for value, _ in positional]
    if name in ("min", "max"):
        return _extremum(reader, node, name, positional)
    if name in ("int", "float"):
        return _converted(reader, node, name, values)
    if name == "len":
        return _length(reader, node, values)
    if name == "print":
        operations.check_prefix(reader, node, "print", positional)
    if name == "hasattr":
        reader.mistake(MistakeKind.PYTHON_BUILTIN, node.func, until=(3, 4), name=name)
    if name == "isinstance" and len(values) == 2:
        return kinds.is_instance(values[0], values[1])
    return Const(ANY) if name in ("isinstance", "hasattr") else UNKNOWN


def _extremum(reader: Reader, node: ast.Call, name: str, positional: list[Argument]) -> Value:
    values = [value for value, _ in positional]
    if not values:
        return UNKNOWN
    if len(values) == 1:
        if isinstance(values[0], Tensor) and not values[0].free:
            reader.mistake(MistakeKind.CALL, node, "one", name=name, text=ast.unparse(node))
        return UNKNOWN
    if all(isinstance(value, Const) for value in values):
        early = reader.before((3, 6))
        known = [value.value for value in values if isinstance(value, Const) and value.known]
        result = Const(ANY)
        if len(known) == len(values) and all(isinstance(k, (int, float)) for k in known):
            result = Const(min(known) if name == "min" else max(known))
        if early is False:
            return result
        return Tensor(None, ()) if early else UNKNOWN
    return operations.elementwise(reader, node, values)


def _converted(reader: Reader, node: ast.Call, name: str, values: list[Value]) -> Value:
    if len(values) != 1:
        return UNKNOWN
    value = values[0]
    if isinstance(value, Tensor):
        if not value.free:
            reader.mistake(MistakeKind.CONVERSION, node, name, text=ast.unparse(node.args[0]), type=text_of_type(value))
        return UNKNOWN
    if isinstance(value, Const) and value.known:
        try:
            return Const(int(value.value) if name == "int" else float(value.value))
        except (TypeError, ValueError, OverflowError):
            return UNKNOWN
    return Const(ANY) if isinstance(value, Const) else UNKNOWN


def _length(reader: Reader, node: ast.Call, values: list[Value]) -> Value:
    if len(values) != 1:
        return UNKNOWN
    value = values[0]
    if isinstance(value, Tuple):
        if value.literal and isinstance(node.args[0], ast.Name):
            reader.mistake(
                MistakeKind.CONVERSION, node, "len", until=(3, 3), text=ast.unparse(node.args[0]), type="a tuple"
            )
        return Const(len(value.items))
    if isinstance(value, Tensor) and not value.free:
        reader.mistake(MistakeKind.CONVERSION, node, "len", text=ast.unparse(node.args[0]), type=text_of_type(value))
    if isinstance(value, Const) and isinstance(value.value, (tuple, str)):
        return Const(len(value.value))
    return UNKNOWN


# -- methods -----------------------------------------------------------------------------------------------------


def _method(
    reader: Reader,
    node: ast.Call,
    method: Method,
    positional: list[Argument],
    keywords: dict[str, Argument],
    dropped: bool,
) -> Value:
    if isinstance(method.receiver, Helper):
        if method.name in ("[grid]", "run", "warmup"):
            reader.mistake(MistakeKind.LAUNCH_INSIDE, node, "grid", name=method.receiver.function.jit.name)
        return UNKNOWN
    if isinstance(method.receiver, Const):
        return kinds.of_constant(method.receiver, method.name)
    assert isinstance(node.func, ast.Attribute)
    if not isinstance(method.receiver, Tensor):
        return operations.of_descriptor(reader, node, method, positional, keywords)
    _check_method(reader, node, method.name, len(positional), keywords)
    first: Argument = (method.receiver, node.func.value)
    bound = bind(reader, node, f"triton.language.{method.name}", [first, *positional], keywords, method=True)
    return operations.apply(reader, bound, dropped)


def _check_method(reader: Reader, node: ast.Call, name: str, given: int, keywords: dict[str, Argument]) -> None:
    """What the newest release of the target asks of a method's arguments."""
    known = parameters(reader, f"{TENSOR}.{name}")
    if not known or any(parameter.star for parameter in known):
        return
    places = [parameter.name for parameter in known if not parameter.keyword_only]
    if given > len(places):
        reader.mistake(MistakeKind.ARGUMENTS, node, "too many", name=name, limit=len(places), given=given)
    for parameter in known:
        if parameter.default is None and parameter.name not in places[:given] and parameter.name not in keywords:
            reader.mistake(MistakeKind.ARGUMENTS, node, "missing", name=name, parameter=parameter.name)
    for keyword in keywords:
        if keyword not in {parameter.name for parameter in known}:
            reader.mistake(MistakeKind.ARGUMENTS, node, "unknown", name=name, parameter=keyword)


__all__ = ["Bound", "call"]
