"""What kind of thing a value is: `isinstance`, and what dtypes say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tritonaudit.ir.values import (
    ANY,
    FLOATS,
    FP8,
    INTEGERS,
    UNSIGNED,
    Const,
    Dtype,
    Named,
    Tensor,
    Tuple,
    Value,
)

_PYTHON: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float,), "bool": (bool,), "str": (str,), "tuple": (tuple,), "list": (list,),
}  # fmt: skip
_OF_TRITON = frozenset({"tensor", "constexpr", "tuple", "dtype", "pointer_type", "block_type"})


def is_instance(value: Value, kind: Value) -> Value:
    """`isinstance(value, kind)`: Triton takes constants for what they hold, so that none is a `tl.constexpr`."""
    if isinstance(kind, Tuple):
        answers = [is_instance(value, one) for one in kind.items]
        if any(answer == Const(True) for answer in answers):
            return Const(True)
        return Const(False) if all(answer == Const(False) for answer in answers) else Const(ANY)
    origin = kind.origin if isinstance(kind, Named) else None
    if origin is None or (isinstance(value, Tensor) and value.free):
        return Const(ANY)
    name = origin.rpartition(".")[2]
    if origin.startswith("triton.language.") and name in _OF_TRITON:
        return _is_of_triton(value, name)
    if origin in _PYTHON and isinstance(value, (Tensor, Const)):
        if isinstance(value, Const) and (not value.known or isinstance(value.value, Dtype)):
            return Const(ANY)
        return Const(isinstance(value, Const) and isinstance(value.value, _PYTHON[origin]))
    return Const(ANY)


def _is_of_triton(value: Value, name: str) -> Value:
    if isinstance(value, Tensor):
        return Const(name == "tensor")
    if isinstance(value, Tuple):
        return Const(name == "tuple")
    if not isinstance(value, Const):
        return Const(ANY)
    if isinstance(value.value, Dtype):
        is_pointer = value.value.startswith("*")
        return Const(name == "dtype" or (name == "pointer_type" and is_pointer)) if name != "block_type" else Const(ANY)
    return Const(False) if value.known and type(value.value) is not tuple else Const(ANY)


_PREDICATES: dict[str, Callable[[str], bool]] = {
    "is_floating": lambda dtype: dtype in FLOATS,
    "is_standard_floating": lambda dtype: dtype in FLOATS[-4:],
    "is_fp8": lambda dtype: dtype in FP8,
    "is_int": lambda dtype: dtype in INTEGERS,
    "is_int_signed": lambda dtype: dtype in INTEGERS and dtype not in UNSIGNED and dtype != "i1",
    "is_int_unsigned": lambda dtype: dtype in UNSIGNED or dtype == "i1",
    "is_bool": lambda dtype: dtype == "i1",
    "is_ptr": lambda dtype: dtype.startswith("*"),
    **{f"is_fp{bits}": (lambda dtype, name=f"fp{bits}": dtype == name) for bits in (16, 32, 64)},  # type: ignore[misc]
    "is_bf16": lambda dtype: dtype == "bf16",
    **{f"is_int{bits}": (lambda dtype, name=f"i{bits}": dtype == name) for bits in (1, 8, 16, 32, 64)},  # type: ignore[misc]
    **{f"is_uint{bits}": (lambda dtype, name=f"u{bits}": dtype == name) for bits in (8, 16, 32, 64)},  # type: ignore[misc]
}


def of_constant(receiver: Const, name: str) -> Value:
    """A method of a constant: what a dtype says of itself, and what a string does."""
    value: Any = receiver.value
    if not isinstance(value, Dtype):
        return Const(ANY)
    predicate = _PREDICATES.get(name)
    return Const(ANY) if predicate is None else Const(predicate(str(value)))
