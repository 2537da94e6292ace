"""Which torch types hold the elements of the IR's types, and constants in them."""

from __future__ import annotations

import torch

from tritonaudit.simulator.ir import Constant, Type
from tritonaudit.simulator.numerics.unsupported import Unsupported

_DTYPES = {
    "i1": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "index": torch.int64,
    "ptr": torch.int64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
    "f8E4M3FNUZ": torch.float8_e4m3fnuz,
    "f8E5M2FNUZ": torch.float8_e5m2fnuz,
}


def dtype_of(type: Type) -> torch.dtype:
    """The torch type of the elements: integers are signless and held as signed, addresses as int64.

    Raises Unsupported for elements that torch has no type for.
    """
    try:
        return _DTYPES[type.element]
    except KeyError:
        raise Unsupported("type", type.element) from None


_FLOAT8 = (torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz)


def bits_of(elements: torch.Tensor) -> torch.Tensor:
    """The same elements in a type that torch can move about; of 8-bit floats the bits."""
    return elements.view(torch.int8) if elements.dtype in _FLOAT8 else elements


_BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_FEW = 1 << 14
"""Elements, of which torch chooses faster, one by one."""


def chosen(where: torch.Tensor, one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """What `torch.where` gives of elements of one type, without a branch for each, which processors guess badly at."""
    if where.numel() < _FEW:
        return torch.where(where, bits_of(one), bits_of(other)).view(one.dtype)
    bits = _BITS[one.itemsize]
    other_bits = other.view(bits)
    differing = (one.view(bits) ^ other_bits) & where.to(bits).neg_()
    return differing.bitwise_xor_(other_bits).view(one.dtype)


def width_of(type: Type) -> int:
    """The bits of one element."""
    return 1 if type.element == "i1" else 8 * item_size(type)


def item_size(type: Type) -> int:
    """The bytes of one element in memory."""
    return int(dtype_of(type).itemsize)


def constant(type: Type, value: Constant) -> torch.Tensor:
    """The constant for all programs, of shape (1, *sizes), each size 1 where it is a splat."""
    shape = (1,) + ((1,) * type.rank if value.is_splat else type.shape)
    dtype = dtype_of(type)
    if type.element == "i1":
        return torch.tensor([bool(element) for element in value.elements]).reshape(shape)
    if not type.is_float:
        return torch.tensor(
            [_wrapped(int(element), width_of(type)) for element in value.elements], dtype=dtype
        ).reshape(shape)
    return torch.tensor(value.elements, dtype=torch.float64).to(dtype).reshape(shape)


def _wrapped(number: int, width: int) -> int:
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half
