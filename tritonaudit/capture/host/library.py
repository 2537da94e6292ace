"""What functions of Python, torch and triton return, as far as host code's text tells."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tritonaudit.capture import typical
from tritonaudit.capture.host.values import UNKNOWN, Descriptor, Dtype, Shape, Tensor, is_known

if TYPE_CHECKING:
    from tritonaudit.capture.host.run import Run

Function = Callable[["Run", ast.Call, str], Any]
Method = Callable[["Run", Tensor, ast.Call, str], Any]

TENSOR_WORDS = frozenset((
    "shape", "stride", "dtype", "numel", "contiguous", "device", "size", "is_contiguous", "view", "reshape", "ndim",
    "data_ptr", "element_size", "flatten", "transpose", "unsqueeze", "permute", "new_empty", "is_cuda",
))  # fmt: skip


def _numbers(run: Run, node: ast.Call) -> list[Any]:
    return [run.number(argument) for argument in node.args if not isinstance(argument, ast.Starred)]


def _plain(function: Callable[..., Any]) -> Function:
    """A function of numbers."""

    def call(run: Run, node: ast.Call, hint: str) -> Any:
        values = _numbers(run, node)
        return function(*values) if values and all(map(is_known, values)) else UNKNOWN

    return call


def _next_power_of_2(number: int) -> int:
    return 1 << max(int(number) - 1, 0).bit_length()


def _cdiv(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _min_max(function: Callable[..., Any]) -> Function:
    def call(run: Run, node: ast.Call, hint: str) -> Any:
        values = _numbers(run, node)
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = list(values[0])
        known = [value for value in values if isinstance(value, (int, float))]
        return function(known) if known else UNKNOWN

    return call


def _float(run: Run, node: ast.Call, hint: str) -> Any:
    value = run.number(node.args[0]) if node.args else 0.0
    return float(value) if isinstance(value, (int, float, str)) else 1.0


def _integer(run: Run, node: ast.Call, hint: str) -> Any:
    value = run.number(node.args[0], hint) if node.args else 0
    return int(value) if isinstance(value, (int, float)) else run.host.sizes.number(hint or "size")


def _boolean(run: Run, node: ast.Call, hint: str) -> Any:
    value = run.value(node.args[0]) if node.args else False
    return bool(value) if isinstance(value, (bool, int, float, str, type(None))) else UNKNOWN


def _length(run: Run, node: ast.Call, hint: str) -> Any:
    value = run.value(node.args[0])
    if isinstance(value, (list, tuple, dict, str)):
        return len(value)
    return UNKNOWN if isinstance(value, Shape) else run.host.sizes.number(hint or "size")


def _isinstance(run: Run, node: ast.Call, hint: str) -> Any:
    value, kind = run.value(node.args[0]), ast.unparse(node.args[1])
    if isinstance(value, Tensor):
        return "Tensor" in kind
    return kind in (type(value).__name__, "numbers.Number") if is_known(value) else UNKNOWN


def _dict(run: Run, node: ast.Call, hint: str) -> Any:
    return {k.arg: run.value(k.value, k.arg) for k in node.keywords if k.arg is not None}


def _range(run: Run, node: ast.Call, hint: str) -> Any:
    values = _numbers(run, node)
    return range(*values) if values and all(isinstance(value, int) for value in values) else UNKNOWN


# -- tensors -------------------------------------------------------------------------------------------------------


def _dtype_of(run: Run, node: ast.Call) -> str | None:
    for keyword in node.keywords:
        if keyword.arg == "dtype":
            value = run.value(keyword.value)
            return value.name if isinstance(value, Dtype) else None
    return None


def _given(run: Run, node: ast.Call, name: str) -> bool:
    return any(keyword.arg == name for keyword in node.keywords)


def _made(default: str, rank: Callable[[Run, ast.Call], int | None]) -> Function:
    """A tensor of a dtype that is given, or else the default one."""

    def call(run: Run, node: ast.Call, hint: str) -> Any:
        return Tensor(_dtype_of(run, node) if _given(run, node, "dtype") else default, rank(run, node))

    return call


def _unknown_rank(run: Run, node: ast.Call) -> int | None:
    return None


def _rank(run: Run, node: ast.Call) -> int | None:
    """How many sizes are given: one by one, or as a tuple."""
    if not node.args or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None
    first = run.value(node.args[0])
    if isinstance(first, (tuple, list)):
        return len(first)
    return None if isinstance(first, Shape) else len(node.args)


def _like(run: Run, node: ast.Call, hint: str) -> Any:
    """A tensor of the dtype of the first argument that is one, unless one is given."""
    if _given(run, node, "dtype"):
        return Tensor(_dtype_of(run, node))
    for argument in node.args:
        value = run.value(argument)
        if isinstance(value, Tensor):
            return value
    return Tensor(None)


def _descriptor(run: Run, node: ast.Call, hint: str) -> Any:
    """`TensorDescriptor(base, shape, strides, block_shape)`, `TensorDescriptor.from_tensor(base, block_shape)`."""
    given = [*node.args, *(k.value for k in node.keywords if k.arg in ("base", "tensor", "block_shape"))]
    if not given:
        return UNKNOWN
    base, block = run.value(given[0]), run.value(given[-1])
    dtype = base.dtype if isinstance(base, Tensor) else None
    return Descriptor(dtype, tuple(block) if isinstance(block, (list, tuple)) else ())


def _finfo(run: Run, node: ast.Call, hint: str) -> Any:
    return UNKNOWN


def _cast(dtype: str) -> Method:
    return lambda run, tensor, node, hint: Tensor(dtype, tensor.rank)


def _to(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    """`x.to(dtype)`, `x.to(device)`, `x.to(other)`, `x.view(dtype)`, `x.type(dtype)`."""
    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
        value = run.value(argument)
        if isinstance(value, Dtype):
            return Tensor(value.name, tensor.rank)
        if isinstance(value, Tensor):
            return Tensor(value.dtype, tensor.rank)
    return tensor


def _reshaped(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return Tensor(tensor.dtype)


def _new(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return Tensor(_dtype_of(run, node) if _given(run, node, "dtype") else tensor.dtype, _rank(run, node))


def _size(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return run.host.sizes.number(hint or "size") if node.args else Shape(tensor)


def _stride(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    """The last dimension's stride is 1: the highest that the function asks this tensor for, of several."""
    if not node.args:
        return UNKNOWN
    mine = run.value(node.args[0])
    if tensor.rank is not None:
        return 1 if mine in (-1, tensor.rank - 1) else run.host.sizes.size
    assert isinstance(node.func, ast.Attribute)
    asked = {
        value
        for other in ast.walk(run.function or node)
        if isinstance(other, ast.Call)
        and isinstance(other.func, ast.Attribute)
        and other.func.attr == "stride"
        and len(other.args) == 1
        and ast.dump(other.func.value) == ast.dump(node.func.value)
        and isinstance(value := run.value(other.args[0]), int)
    }
    last = mine == -1 or (len(asked) > 1 and mine == max(asked) and -1 not in asked)
    return 1 if last else run.host.sizes.size


def _elements(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return typical.ELEMENTS


def _item_size(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return Dtype(tensor.dtype or run.host.dtype).itemsize


def _item(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return UNKNOWN


def _true(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return True


def _address(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return typical.ELEMENTS


def _is_floating(run: Run, tensor: Tensor, node: ast.Call, hint: str) -> Any:
    return Dtype(tensor.dtype or run.host.dtype).is_floating_point


def _constant(value: Any) -> Function:
    return lambda run, node, hint: value


def _table(function: Any, names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), function)


FUNCTIONS: dict[str, Function] = {
    "*.next_power_of_2": _plain(_next_power_of_2),
    "*.cdiv": _plain(_cdiv),
    "*.constexpr": lambda run, node, hint: run.value(node.args[0], hint),
    "min": _min_max(min),
    "max": _min_max(max),
    "abs": _plain(abs),
    "round": _plain(round),
    "float": _float,
    "int": _integer,
    "bool": _boolean,
    "len": _length,
    "dict": _dict,
    "range": _range,
    "isinstance": _isinstance,
    **{f"math.{name}": _plain(getattr(math, name)) for name in ("ceil", "floor", "log2", "log", "sqrt", "prod", "exp")},
    "torch.finfo": _finfo,
    **_table(_descriptor, "*.TensorDescriptor *.from_tensor"),
    **_table(_made("float32", _rank), "*.empty *.zeros *.ones *.rand *.randn"),
    **_table(_made("float32", _unknown_rank), "*.full *.empty_strided *.linspace"),
    **_table(_made("int64", _unknown_rank), "*.arange *.randint *.randperm *.argsort *.nonzero *.bincount"),
    "*.get_device_capability": _constant((9, 0)),
    "*.is_available": _constant(True),
    "torch.*": _like,
}

METHODS: dict[str, Method] = {
    **_table(_to, "to type"),
    "view": lambda run, tensor, node, hint: _reshaped(run, _to(run, tensor, node, hint), node, hint),
    **_table(_reshaped, "reshape flatten unsqueeze squeeze expand repeat unfold"),
    "float": _cast("float32"),
    "half": _cast("float16"),
    "bfloat16": _cast("bfloat16"),
    "double": _cast("float64"),
    "int": _cast("int32"),
    "long": _cast("int64"),
    "bool": _cast("bool"),
    **_table(_new, "new_empty new_zeros new_ones new_full new_tensor"),
    "size": _size,
    "stride": _stride,
    **_table(_elements, "numel nelement"),
    "element_size": _item_size,
    **_table(_item, "item tolist dim ndimension get_device"),
    **_table(_true, "is_contiguous"),
    "data_ptr": _address,
    "is_floating_point": _is_floating,
    **_table(_cast("int64"), "argmax argmin argsort nonzero"),
}
