"""What Triton's functions give, and what they refuse."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.ir import accesses, blocks, dots, reductions
from tritonaudit.ir.arithmetic import (
    binary,
    broadcast_shapes,
    dtype_of,
    no_value,
    promoted,
    result_dtype,
    shape_of,
    unpacked,
    written,
)
from tritonaudit.ir.bound import Bound
from tritonaudit.ir.mistakes import MistakeKind
from tritonaudit.ir.values import (
    ANY,
    ANY_INT,
    FLOATS,
    FP8,
    INTEGERS,
    UNKNOWN,
    Argument,
    Const,
    Descriptor,
    Dtype,
    Method,
    Named,
    Tensor,
    Tuple,
    Value,
    as_tensor,
    is_number,
    text_of_type,
)

if TYPE_CHECKING:
    from tritonaudit.ir.reader import Reader

Operation = Callable[["Reader", Bound], Value]

_PURE = frozenset(
    {"dot", "dot_scaled", "where", "maximum", "minimum", "trans", "reshape", "broadcast_to", "sum", "max"}
)


def apply(reader: Reader, bound: Bound, dropped: bool) -> Value:
    """The value of a call of a function of Triton's, by its dotted name."""
    if dropped:
        _dropped(reader, bound)
    if bound.origin in ("triton.cdiv", "triton.next_power_of_2"):
        return _result(reader, bound, _host_function(reader, bound))
    if not bound.origin.startswith("triton.language"):
        return _result(reader, bound, UNKNOWN)
    if "libdevice" in bound.origin:
        return _result(reader, bound, _libdevice(reader, bound))
    if blocks.needs_block(reader, bound):
        return _result(reader, bound, UNKNOWN)
    operation = _OPERATIONS.get(bound.name)
    return _result(reader, bound, UNKNOWN if operation is None else operation(reader, bound))


def _result(reader: Reader, bound: Bound, value: Value) -> Value:
    return reader.result(bound.name, bound.node, bound.named, value, bound)


def _dropped(reader: Reader, bound: Bound) -> None:
    if bound.name in ("dot", "dot_scaled") and bound.given("acc"):
        reader.mistake(MistakeKind.DOT_DROPPED, bound.node, "acc", acc=ast.unparse(bound.node_of("acc")))
    elif bound.name == "dot":
        reader.mistake(MistakeKind.DOT_DROPPED, bound.node, "dot")
    elif bound.name == "advance":
        pointer = ast.unparse(bound.node_of("base"))
        reader.mistake(MistakeKind.RESULT_DROPPED, bound.node, "advance", since=(3, 4), pointer=pointer)
        reader.mistake(MistakeKind.RESULT_DROPPED, bound.node, "silent", until=(3, 4), pointer=pointer)


def _host_function(reader: Reader, bound: Bound) -> Value:
    values = [value for value, _ in bound.named.values()]
    name = bound.origin
    if any(isinstance(value, Tensor) and value.shape is not None for value in values):
        reader.mistake(MistakeKind.NOT_CONSTANT_CALL, bound.node, name, name=name, text=ast.unparse(bound.node))
        return UNKNOWN
    numbers = [value.value for value in values if isinstance(value, Const) and type(value.value) is int]
    if len(numbers) != len(values) or not numbers or min(numbers) < 1:
        return Const(ANY) if all(isinstance(value, Const) for value in values) else UNKNOWN
    if name == "triton.cdiv":
        return _host_division(values)
    return Const(1 << (numbers[0] - 1).bit_length())


def _host_division(values: list[Value]) -> Value:
    """Constants divided and rounded up."""
    numbers = [value.value for value in values if isinstance(value, Const) and type(value.value) is int]
    if len(numbers) != 2 or numbers[1] == 0:
        return Const(ANY_INT)
    return Const(-(-numbers[0] // numbers[1]))


# -- one element at a time ---------------------------------------------------------------------------------------


def elementwise(reader: Reader, node: ast.AST, values: list[Value]) -> Value:
    """The promoted and broadcast result of values, numbers among them taken as tensors."""
    result = as_tensor(values[0])
    for value in values[1:]:
        result = binary(reader, node, ast.Add(), result, as_tensor(value))
    return result


FLOAT_ONLY = frozenset({"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "sigmoid", "floor", "ceil"})
"""Functions that take and give only fp32 and fp64."""
_LIBDEVICE = frozenset(
    {"tanh", "exp", "exp2", "log", "log2", "sqrt", "rsqrt", "erf", "sin", "cos", "tan", "atan", "asin", "acos", "sinh",
     "cosh", "log1p", "expm1", "log10", "rint", "floor", "ceil", "trunc"}
)  # fmt: skip


_CHECKS_NUMBERS = (3, 6)
"""The release from which the dtype of a number of Python's is asked for, too."""


def _float_function(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    dtype = dtype_of(value)
    if no_value(reader, value, bound.node_of("x"), f"the argument of `tl.{bound.name}`"):
        return UNKNOWN
    if dtype is not None and dtype not in ("fp32", "fp64") and (dtype in FLOATS or dtype in INTEGERS):
        since = _CHECKS_NUMBERS if isinstance(value, Const) and bound.name != "sigmoid" else None
        words: dict[str, Any] = {"name": f"tl.{bound.name}", "dtype": dtype, "text": _first_text(bound)}
        reader.mistake(MistakeKind.MATH_DTYPE, bound.node, "tl", since=since, **words)
        return UNKNOWN
    shape = shape_of(value)
    return Tensor(dtype, shape) if shape is not None else UNKNOWN


def _libdevice(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if bound.name not in _LIBDEVICE or not isinstance(value, Tensor):
        return UNKNOWN
    if value.dtype in ("fp16", "bf16"):
        name = f"libdevice.{bound.name}"
        reader.mistake(
            MistakeKind.MATH_DTYPE, bound.node, "libdevice", name=name, dtype=value.dtype, text=_first_text(bound)
        )
        return UNKNOWN
    return Tensor(value.dtype if value.dtype in ("fp32", "fp64") else None, value.shape, value.free)


def _first_text(bound: Bound) -> str:
    return ast.unparse(next(iter(bound.named.values()))[1]) if bound.named else ""


def _same(reader: Reader, bound: Bound) -> Value:
    value = as_tensor(bound.first())
    return value if isinstance(value, Tensor) else UNKNOWN


def _extremum(reader: Reader, bound: Bound) -> Value:
    option = bound.value("propagate_nan")
    if bound.given("propagate_nan") and (isinstance(option, Tensor) or is_number(option)):
        reader.mistake(
            MistakeKind.OPTION_VALUE, bound.node, "propagate_nan", value=ast.unparse(bound.node_of("propagate_nan"))
        )
        return UNKNOWN
    values = [as_tensor(bound.value("x")), as_tensor(bound.value("y"))]
    for name in ("x", "y"):
        if no_value(reader, bound.value(name), bound.node_of(name), f"`{name}` of `tl.{bound.name}`"):
            return UNKNOWN
    values = [_wider(reader, value) for value in values]
    early = reader.before(_KEEPS_BRAIN)
    numbers = [is_number(bound.value(name)) for name in ("x", "y")]
    if early is not True and numbers.count(True) == 1:
        place = numbers.index(True)
        values[place] = bound.value("xy"[place])  # a number takes the dtype of the other
    result = elementwise(reader, bound.node, values) if early is True else _of_two(reader, bound, values)
    return Tensor(None, result.shape) if early is None and isinstance(result, Tensor) else result


def _of_two(reader: Reader, bound: Bound, values: list[Value]) -> Value:
    if all(isinstance(value, Const) for value in values):
        values = [as_tensor(value) for value in values]
    return binary(reader, bound.node, ast.Add(), *values)


_KEEPS_BRAIN = (3, 9)
"""The release from which `tl.maximum`, `tl.minimum` and `tl.clamp` keep bf16; older ones compare it as fp32."""


def _wider(reader: Reader, value: Value) -> Value:
    if isinstance(value, Tensor) and value.dtype == "bf16":
        early = reader.before(_KEEPS_BRAIN)
        return Tensor("fp32" if early else "bf16" if early is False else None, value.shape, value.free)
    return value


def _rounded(reader: Reader, bound: Bound) -> Value:
    """Functions of fp32 alone."""
    for value, node in bound.named.values():
        dtype = value.dtype if isinstance(value, Tensor) and not value.free else None
        if dtype is not None and dtype != "fp32" and not dtype.startswith("*"):
            name, text = f"tl.{bound.name}", ast.unparse(node)
            reader.mistake(MistakeKind.MATH_DTYPE, bound.node, "fp32", name=name, dtype=dtype, text=text)
            return UNKNOWN
    values = [value for value, _ in bound.named.values()]
    result = elementwise(reader, bound.node, values) if values else UNKNOWN
    return Tensor("fp32", result.shape) if isinstance(result, Tensor) else UNKNOWN


def _clamp(reader: Reader, bound: Bound) -> Value:
    value = elementwise(reader, bound.node, [_wider(reader, as_tensor(v)) for v, _ in list(bound.named.values())[:3]])
    return Tensor(None, value.shape) if isinstance(value, Tensor) else UNKNOWN


def _where(reader: Reader, bound: Bound) -> Value:
    condition, x, y = (bound.value(name) for name in ("condition", "x", "y"))
    if not {"condition", "x", "y"} <= bound.named.keys() or UNKNOWN in (condition, x, y):
        return UNKNOWN
    dtype = result_dtype(reader, bound.node, ast.Add(), x, y)
    a, b = dtype_of(x), dtype_of(y)
    if a is not None and a.startswith("*"):
        dtype = a if a == b else None
    shapes = [shape_of(value) for value in (condition, x, y)]
    shape = shapes[0]
    for other in shapes[1:]:
        if shape is None or other is None:
            return Tensor(dtype, None)
        joint = broadcast_shapes(shape, other)
        if joint is None:
            reader.mistake(MistakeKind.SHAPES, bound.node, left=written(shape), right=written(other), text="tl.where")
            return UNKNOWN
        shape = joint
    return Tensor(dtype, shape)


def _fused(reader: Reader, bound: Bound) -> Value:
    values = [value for value, _ in bound.named.values()]
    result = elementwise(reader, bound.node, values) if len(values) >= 2 else UNKNOWN
    free = any(isinstance(value, Tensor) and value.free for value in values)
    if isinstance(result, Tensor) and result.dtype in INTEGERS and not free:
        reader.mistake(MistakeKind.MATH_DTYPE, bound.node, "tl", name="tl.fma", dtype=result.dtype, text=bound.text)
    return result


def _high_product(reader: Reader, bound: Bound) -> Value:
    values = [value for value, _ in bound.named.values()]
    for value in values:
        if isinstance(value, Tensor) and not value.free and (value.dtype in FLOATS or value.is_pointer):
            takes, given = "32-bit and 64-bit integers", text_of_type(value)
            reader.mistake(
                MistakeKind.ARGUMENT_VALUE, bound.node, name="tl.umulhi", takes=takes, text=bound.text, given=given
            )
            return UNKNOWN
    return elementwise(reader, bound.node, values) if len(values) == 2 else UNKNOWN


_CONSTANT_HELPERS = (3, 7)
"""The release from which a helper that returns a constant gives a constant."""


def _cdiv(reader: Reader, bound: Bound) -> Value:
    values = [value for value, _ in bound.named.values()]
    if len(values) != 2:
        return UNKNOWN
    if all(isinstance(value, Const) for value in values):
        early = reader.before(_CONSTANT_HELPERS)
        if early is None:
            return UNKNOWN
        return Tensor("i32", ()) if early else _host_division(values)
    return binary(reader, bound.node, ast.FloorDiv(), values[0], values[1])


# -- types -------------------------------------------------------------------------------------------------------


def _cast(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    if no_value(reader, value, bound.node, "what a cast takes"):
        return UNKNOWN
    target = bound.value("dtype")
    dtype = named_dtype(reader, target, bound.node_of("dtype"))
    shape = shape_of(value)
    if isinstance(target, Named) and target.origin in ("triton.language.void", "triton.language.pi32_t"):
        reader.mistake(MistakeKind.CAST, bound.node, "void", name=ast.unparse(bound.node_of("dtype")))
        return UNKNOWN
    if dtype is None or not isinstance(value, Tensor):
        return Tensor(dtype, shape) if shape is not None else UNKNOWN
    _check_widening(reader, bound, value, dtype)
    _check_rounding(reader, bound, value, dtype)
    if _is_refused(reader, bound, value, dtype):
        return UNKNOWN
    if bound.given("bitcast") and not _is_false(bound.value("bitcast")):
        _bitcast(reader, bound, value, dtype)
    elif dtype.startswith("*") and value.dtype in (*FLOATS, "i1", "i8", "i16", "i32"):
        reader.mistake(
            MistakeKind.CAST, bound.node, "to pointer", text=ast.unparse(bound.node), type=text_of_type(value)
        )
        return UNKNOWN
    elif value.is_pointer and dtype in FLOATS:
        reader.mistake(MistakeKind.CAST, bound.node, "pointer", text=ast.unparse(bound.node), type=text_of_type(value))
        return UNKNOWN
    return Tensor(dtype, shape)


def _check_widening(reader: Reader, bound: Bound, value: Tensor, dtype: str) -> None:
    """`(row * stride).to(tl.int64)`: a product of two scalars of the run is widened when it may have wrapped."""
    node = bound.node.func.value if isinstance(bound.node.func, ast.Attribute) else None
    if dtype != "i64" or value.shape != () or not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return
    parameters = {parameter.name for parameter in reader.frame.function.jit.parameters}
    left, right = (reader.known(part) for part in (node.left, node.right))
    dtypes = [one.dtype for one in (left, right) if isinstance(one, Tensor) and one.shape == ()]
    if len(dtypes) == 2 and "i32" in dtypes and set(dtypes) <= {"i32", None}:
        factors = [part for part, dtype in zip((node.left, node.right), dtypes, strict=True) if dtype == "i32"]
        factor = next((one for one in factors if ast.unparse(one) not in parameters), factors[0])
        text = f"({ast.unparse(factor)})" if isinstance(factor, ast.BinOp) else ast.unparse(factor)
        reader.mistake(MistakeKind.LATE_WIDENING, bound.node, text=ast.unparse(node), factor=text)


def _is_refused(reader: Reader, bound: Bound, value: Tensor, dtype: str) -> bool:
    """Whether a cast between fp8 and a dtype of integers is asked for, which there is none of."""
    if bound.given("bitcast") and not _is_false(bound.value("bitcast")):
        return False
    if value.dtype == "fp64" and dtype in FP8:
        reader.mistake(MistakeKind.CAST, bound.node, "fp8", until=(3, 3), text=ast.unparse(bound.node), before="fp64",
                       after=dtype)  # fmt: skip
    if not any(one in FP8 and other in INTEGERS for one, other in ((value.dtype, dtype), (dtype, value.dtype))):
        return False
    reader.mistake(MistakeKind.CAST, bound.node, "fp8", text=ast.unparse(bound.node), before=value.dtype, after=dtype)
    return True


def _check_rounding(reader: Reader, bound: Bound, value: Tensor, dtype: str) -> None:
    """A way to round belongs to a cast to a narrower float."""
    rounding, node = bound.value("fp_downcast_rounding"), bound.node_of("fp_downcast_rounding")
    if not bound.given("fp_downcast_rounding") or not isinstance(rounding, Const):
        return
    words: dict[str, Any] = {"name": "a cast", "text": "fp_downcast_rounding", "given": repr(rounding.value)}
    if rounding.value == "rtz" and value.dtype != dtype:  # crashes the compiler
        reader.mistake(MistakeKind.ARGUMENT_VALUE, node, until=(3, 3), takes="no rounding to zero", **words)
    if rounding.known and rounding.value not in ("rtne", "rtz"):
        reader.mistake(MistakeKind.ARGUMENT_VALUE, node, takes="'rtne' or 'rtz'", **words)
    before, after = bits(value.dtype), bits(dtype)
    if before is None or after is None or value.dtype == dtype:
        return
    if value.dtype not in FLOATS or dtype not in FLOATS or after >= before:
        reader.mistake(MistakeKind.ARGUMENT_VALUE, node, takes="only a rounding to narrower floats", **words)


def _is_false(value: Value) -> bool:
    return isinstance(value, Const) and value.value is False


def _bitcast(reader: Reader, bound: Bound, value: Tensor, dtype: str) -> None:
    before, after = bits(value.dtype), bits(dtype)
    if before is not None and after is not None and before != after:
        reader.mistake(MistakeKind.CAST, bound.node, "bitcast", type=text_of_type(value), before=before, after=after)


def bits(dtype: str | None) -> int | None:
    """The width of a dtype."""
    if dtype is None or dtype.startswith("*"):
        return None
    if dtype.startswith("fp8"):
        return 8
    digits = dtype.lstrip("bfpiu")
    return int(digits) if digits.isdigit() else None


def named_dtype(reader: Reader, value: Value, node: ast.AST) -> str | None:
    """The dtype that an argument names; a mistake where it is a string or another library's."""
    if isinstance(value, Const):
        if isinstance(value.value, Dtype):
            return str(value.value)
        if type(value.value) is str:
            reader.mistake(MistakeKind.DTYPE_KIND, node, "string", text=repr(value.value), name=value.value)
    elif isinstance(value, Named) and value.origin in ("float", "int", "bool"):
        name = {"float": "float32", "int": "int32", "bool": "int1"}[value.origin]
        reader.mistake(MistakeKind.DTYPE_KIND, node, "library", text=value.origin, name=name)
    elif isinstance(value, Named) and value.origin.startswith(("torch.", "numpy.")):
        reader.mistake(
            MistakeKind.DTYPE_KIND, node, "library", text=ast.unparse(node), name=value.origin.rpartition(".")[2]
        )
    return None


# -- what is said when compiling or running ----------------------------------------------------------------------


def _static_assert(reader: Reader, bound: Bound) -> Value:
    if not bound.node.args:
        return UNKNOWN
    condition = next(iter(bound.named.values()))[0] if bound.named else UNKNOWN
    text = ast.unparse(bound.node.args[0])
    if isinstance(condition, Const) and condition.known and not condition.value:
        if reader.is_surely_asserted(bound.node.args[0]):
            reader.mistake(MistakeKind.STATIC_ASSERT, bound.node, text=text)
    elif (isinstance(condition, Tensor) and not condition.free) or isinstance(condition, Tuple):
        reader.mistake(MistakeKind.STATIC_ASSERT_RUNTIME, bound.node, text=text)
    return UNKNOWN


def _device_print(reader: Reader, bound: Bound) -> Value:
    known = [argument for name, argument in bound.named.items() if name not in ("args", "hex")]
    check_prefix(reader, bound.node, "tl.device_print", [*known, *bound.rest])
    return UNKNOWN


def check_prefix(reader: Reader, node: ast.Call, name: str, positional: list[Argument]) -> None:
    """A mistake where a print does not begin with a string of plain letters, or prints what is no value."""
    if positional and isinstance(positional[0][0], Tensor):
        reader.mistake(MistakeKind.CALL, node, "prefix", name=name, text=ast.unparse(positional[0][1]))
    first = positional[0][0] if positional else UNKNOWN
    if isinstance(first, Const) and type(first.value) is str and not first.value.isascii():
        text = repr(first.value)
        reader.mistake(MistakeKind.ARGUMENT_VALUE, node, name=name, takes="plain ASCII", text=text, given="not")
    for value, argument in positional[1:]:
        no_value(reader, value, argument, f"what `{name}` prints")


def _constexpr(reader: Reader, bound: Bound) -> Value:
    value = bound.first()
    return value if isinstance(value, Const) else UNKNOWN


def _hint(reader: Reader, bound: Bound) -> Value:
    values, input = bound.value("values"), bound.first()
    if isinstance(input, Tensor) and input.shape is not None and not input.free:
        several = unpacked(values)
        count = len(several.items) if isinstance(several, Tuple) else None
        if isinstance(values, Const) and type(values.value) is int:
            count = 1
        if count is not None and count != max(1, len(input.shape)):
            reader.mistake(
                MistakeKind.ARGUMENT_VALUE, bound.node,
                name=f"tl.{bound.name}", takes=f"a number for each of the {len(input.shape)} axes",
                text=ast.unparse(bound.node_of("values")), given=count,
            )  # fmt: skip
    if isinstance(values, Tensor) and values.shape is not None:
        reader.mistake(
            MistakeKind.NEEDS_CONSTANT, bound.node_of("values"), "hint",
            where=f"tl.{bound.name}", text=ast.unparse(bound.node_of("values")),
        )  # fmt: skip
    return _same(reader, bound)


def _random(reader: Reader, bound: Bound) -> Value:
    shape = shape_of(bound.value("offset"))
    return Tensor("fp32" if bound.name != "randint" else "i32", shape) if shape is not None else UNKNOWN


def of_descriptor(
    reader: Reader, node: ast.Call, method: Method, positional: list[Argument], keywords: dict[str, Argument]
) -> Value:
    """A method of a descriptor or a block pointer."""
    value: Value = UNKNOWN
    if isinstance(method.receiver, Descriptor):
        value = accesses.descriptor_method(reader, node, method.receiver, method.name, positional, keywords)
    assert isinstance(node.func, ast.Attribute)
    names = zip(("offsets", "value") if method.name == "store" else ("offsets",), positional, strict=False)
    arguments = {"pointer": (method.receiver, node.func.value), **dict(names), **keywords}
    return reader.result(method.name, node, arguments, value)


_OPERATIONS: dict[str, Operation] = {
    **blocks.OPERATIONS,
    **accesses.OPERATIONS,
    **reductions.OPERATIONS,
    **dots.OPERATIONS,
    **dict.fromkeys(FLOAT_ONLY, _float_function),
    **dict.fromkeys(("abs", "zeros_like", "cumsum_"), _same),
    **dict.fromkeys(("div_rn", "sqrt_rn"), _rounded),
    **dict.fromkeys(("maximum", "minimum"), _extremum),
    **dict.fromkeys(("multiple_of", "max_contiguous", "max_constancy"), _hint),
    **dict.fromkeys(("rand", "randn", "randint"), _random),
    "clamp": _clamp,
    "where": _where,
    "fma": _fused,
    "umulhi": _high_product,
    "cdiv": _cdiv,
    "cast": _cast,
    "to": _cast,
    "static_assert": _static_assert,
    "device_print": _device_print,
    "constexpr": _constexpr,
}

__all__ = ["Tuple", "apply", "promoted"]
